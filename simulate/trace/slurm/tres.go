package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

type resourceList struct {
	gpus   int
	types  []string // of GPUs, as listed; immutable
	cpus   int
	memory int64 // bytes
	nodes  int
}

func (l *log) resourcesOf(r *parse.Row, at *places) (asked, had resourceList) {
	for _, c := range [...]struct {
		name  string
		at    int
		known *textCache[resourceList]
		parse func(string) (resourceList, string)
		to    *resourceList
		nodes bool // the list is per node
	}{
		{"reqtres", at.reqTRES, &l.tres, parseTRES, &asked, false},
		{"alloctres", at.allocTRES, &l.tres, parseTRES, &had, false},
		{"reqgres", at.reqGRES, &l.gres, parseGRES, &asked, true},
		{"allocgres", at.allocGRES, &l.gres, parseGRES, &had, false},
	} {
		text := r.At(c.at)
		if c.to.gpus > 0 || text == "" {
			continue
		}
		list, want := c.known.of(text, c.parse)
		if want != "" {
			r.Fail(c.name, want)
			return asked, had
		}
		if c.nodes && r.At(at.nodes) != "" {
			list.gpus *= r.Count("nnodes", 0, parse.MaxCount)
		}
		if list.gpus > parse.MaxCount {
			r.Fail(c.name, fmt.Sprintf("at most %d GPUs", parse.MaxCount))
		}
		c.to.add(list)
	}
	return asked, had
}

func (l *resourceList) add(m resourceList) {
	if l.gpus == 0 {
		l.gpus, l.types = m.gpus, m.types
	}
	l.cpus, l.memory, l.nodes = max(l.cpus, m.cpus), max(l.memory, m.memory), max(l.nodes, m.nodes)
}

// addGPUs adds GPUs; an untyped count includes typed ones.
func (l *resourceList) addGPUs(kind string, n int, typed *int) {
	if kind == "" {
		l.gpus = n
		return
	}
	*typed += n
	if n > 0 && !slices.Contains(l.types, kind) {
		l.types = append(l.types, strings.Clone(kind))
	}
}

var wantCount = fmt.Sprintf("whole numbers from 0 to %d", parse.MaxCount)

// parseTRES parses a list like "billing=8,cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1", or returns what
// was wanted.
func parseTRES(text string) (l resourceList, want string) {
	typed, err := 0, error(nil)
	for item := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(item, "=")
		n := 0
		kind, gpu := strings.CutPrefix(name, "gres/gpu")
		if gpu = gpu && (kind == "" || kind[0] == ':'); gpu || name == "cpu" || name == "node" {
			if n, err = count(value); err != nil {
				return l, wantCount
			}
		}
		switch {
		case gpu:
			l.addGPUs(strings.TrimPrefix(kind, ":"), n, &typed)
		case name == "cpu":
			l.cpus = n
		case name == "node":
			l.nodes = n
		case name == "mem":
			if l.memory, err = memory(value); err != nil {
				return l, "memory like mem=64G"
			}
		}
	}
	if l.gpus == 0 {
		l.gpus = typed
	}
	return l, ""
}

// gpuNumber is gpu as written by Slurm before 19.05 if its plugin is not loaded.
const gpuNumber = "7696487"

// parseGRES parses a list like "gpu:a100:2(S:0-1),craynetwork:1", or returns what was wanted.
func parseGRES(text string) (l resourceList, want string) {
	typed := 0
	for item := range strings.SplitSeq(withoutSockets(text), ",") {
		parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(item, "gres/"), "gres:"), ":")
		if parts[0] != "gpu" && parts[0] != gpuNumber {
			continue
		}
		n, err := count(parts[len(parts)-1])
		kind := parts[1:max(1, len(parts)-1)]
		if err != nil && len(parts) <= 2 { // gpu and gpu:a100 mean one
			n, kind, err = 1, parts[1:], nil
		}
		if err != nil || len(kind) > 1 {
			return l, "GPUs like gpu:2 or gpu:a100:2"
		}
		l.addGPUs(strings.Join(kind, ""), n, &typed)
	}
	l.gpus += typed
	return l, ""
}

// withoutSockets removes parentheses: "gpu:2(S:0,1)" becomes "gpu:2".
func withoutSockets(text string) string {
	var b strings.Builder
	for {
		head, rest, open := strings.Cut(text, "(")
		b.WriteString(head)
		if !open {
			return b.String()
		}
		_, text, _ = strings.Cut(rest, ")")
	}
}

func count(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil && (n < 0 || n > parse.MaxCount) {
		err = strconv.ErrRange
	}
	return n, err
}

// memory parses 64G or 0.50T into bytes; the default unit is megabytes, as in Slurm.
func memory(text string) (int64, error) {
	const units = "KMGTP"
	shift := 20
	if i := strings.LastIndexAny(text, units); i >= 0 && i == len(text)-1 {
		shift = 10 * (strings.IndexByte(units, text[i]) + 1)
		text = text[:i]
	}
	x, err := strconv.ParseFloat(text, 64)
	if x *= float64(int64(1) << shift); err == nil && !(x >= 0 && x < 1<<52) { // rejects NaN, too
		err = strconv.ErrRange
	}
	return int64(x), err
}
