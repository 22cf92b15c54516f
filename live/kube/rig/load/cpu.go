package load

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

// tick is the kernel's resolution (USER_HZ, 100 per second for Go on Linux).
const tick = 10 * time.Millisecond

type cost map[string]time.Duration

func (b *bench) spent() cost {
	b.Helper()
	c := cost{}
	all := []*rig.Process{b.Process(rig.Etcd), b.Process(rig.APIServer), b.Process(rig.Scheduler), b.Process(rig.Controller), b.Process(rig.Kwok)}
	if b.oxgang != nil && b.oxgang.Running() {
		all = append(all, b.oxgang)
	}
	all = append(all, b.beside...)
	for _, p := range all {
		d, err := used(p.PID())
		b.ok(err)
		c[p.Name] = d
	}
	return c
}

func used(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	text := string(data)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // from the third field on
	const user, system = 14 - 3, 15 - 3
	var sum time.Duration
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("process %d: %w", pid, err)
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}

func (c cost) since(before cost) cost {
	d := cost{}
	for name, now := range c {
		d[name] = now - before[name]
	}
	return d
}

func (c cost) of(names ...string) (sum time.Duration) {
	for _, name := range names {
		sum += c[name]
	}
	return sum
}

func (b *bench) written() e2e.Series {
	b.Helper()
	text, err := b.api.RESTClient().Get().AbsPath("/metrics").DoRaw(b.Context())
	b.ok(err)
	all, err := e2e.Read(bytes.NewReader(text))
	b.ok(err)
	sum := e2e.Series{}
	for name, n := range all {
		labels, is := strings.CutPrefix(name, "apiserver_request_total")
		verb, resource, sub := label(labels, "verb"), label(labels, "resource"), label(labels, "subresource")
		if is && slices.Contains([]string{"POST", "PUT", "PATCH", "APPLY", "DELETE"}, verb) {
			sum[strings.TrimSuffix(verb+" "+resource+"/"+sub, "/")] += n
		}
	}
	return sum
}

func label(labels, name string) string {
	_, rest, _ := strings.Cut(labels, name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

func median(all []float64) (mid, least, most float64) {
	s := slices.Sorted(slices.Values(all))
	mid = s[len(s)/2]
	if len(s)%2 == 0 {
		mid = (s[len(s)/2-1] + mid) / 2
	}
	return mid, s[0], s[len(s)-1]
}
