package explain

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/journal"
	settings "github.com/oxgang/oxgang/simulate/config"
	simrun "github.com/oxgang/oxgang/simulate/run"
)

// clusters are small ones, by what is particular of them.
var clusters = map[string]string{
	"":      "t4:4x4,rtx:2x8",
	"hosts": "t4:4x4/16c/128g,rtx:2x8/24c/200g",
	"rent":  "t4:4x4/rent,rtx:2x8/rent",
}

// overloaded returns the journal of a small cluster with far more jobs than it has GPUs for.
// What is named after the policy is what is particular of it.
func overloaded(t testing.TB, policy, seed string) []byte {
	t.Helper()
	policy, on, _ := strings.Cut(policy, " on ")
	c := settings.Default()
	for key, value := range map[string]string{
		"policy": policy, "seed": seed, "cluster": clusters[on], "generate.jobs": "40", "generate.span": "40m", "horizon": "100m",
	} {
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	in, err := simrun.Load(c, simrun.Files{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := journal.NewWriter(&out, simrun.Header(c, in, policy, "test"))
	if _, err := simrun.Simulate(t.Context(), c, in, policy, w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// pages calls each with every page of a job on which something differs from the one before.
func pages(t testing.TB, text []byte, id job.ID, each func(string)) {
	t.Helper()
	type page struct {
		then *snapshot
		at   time.Duration
	}
	open := func() *journal.Reader {
		r, err := journal.NewReader(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := open()
	l := newJournalReader(r.Header(), id)
	var all []page
	var last string
	if err := l.listen(r, func(time.Duration) {
		if l.state.spec == nil || l.state.phase.Terminal() {
			return
		}
		then := l.snapshot()
		if now := fmt.Sprint(then.row.why, then.row.holds, then.state.phase, then.context.view.text(), then.context.view.prices()); now != last {
			last, all = now, append(all, page{then, l.now})
		}
	}); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		s := Story{Job: id, Policy: l.policy, Asked: asked(l.state.spec, NotKnown), Moment: l.moment(p.then, p.at)}
		var details strings.Builder
		if err := s.WriteDetails(&details); err != nil {
			t.Fatal(err)
		}
		each(render(t, &s, nil) + details.String())
	}
	s, err := Life(open(), id)
	each(render(t, s, err))
}

// A rule finds two numbers on a page, or in one line of a life, that its words say differ.
type rule struct {
	found *regexp.Regexp
	right func(a, b float64) bool
}

var (
	above = func(a, b float64) bool { return a > b }
	below = func(a, b float64) bool { return a < b }
	gain  = func(a, _ float64) bool { return a > 1 }
	rules = []rule{
		{regexp.MustCompile(`others gain (\S+) (times) as much`), gain},
		{regexp.MustCompile(`are worth (\S+) (times) as much to other jobs`), gain},
		{regexp.MustCompile(`makes? it (\S+) (times) as fast`), gain},
		{regexp.MustCompile(`, and it is (\S+) % (slower) than before`), above},
		{regexp.MustCompile(`would be (\S+) times as good, and a restart pays only from (\S+) times`), below},
		{regexp.MustCompile(`it is (\S+) times as fast as with the fewest GPUs of its slowest type; with [^;]*, which are worth their price, it would be (\S+) times`), below},
		{regexp.MustCompile(`its previous GPUs cost (\S+) (times) as much`), gain},
		{regexp.MustCompile(`grew from (\d+) to (\d+)`), below},
		{regexp.MustCompile(`was shrunk from (\d+) to (\d+)`), above},
	}
	freeOf   = regexp.MustCompile(`(\d+) (\w+) GPUs?(?: on \d+ nodes)?[^;:.]* (?:and|but) (none|\d+) (?:is|are) free[;.]`)
	needs    = regexp.MustCompile(`it needs (?:at least )?(\d+)(?: \w+)? GPUs?`)
	askedFor = regexp.MustCompile(`(?:asked      |asking for )(?:exactly )?(?:\d+ GPUs? of [^()\n]+ \(accepts )?(\d+)`)
	lacks    = regexp.MustCompile(`(\d+) (\w+) GPUs?(?: on \d+ nodes)? would make it faster, but are not free`)
	never    = regexp.MustCompile(`it asks for (\d+)(?: \w+)? GPUs?[^,]*, and the cluster has (?:at most )?(\d+)`)
)

// contradiction returns what a page says against itself; empty if nothing.
func contradiction(page string) string {
	for _, r := range rules {
		for _, m := range r.found.FindAllStringSubmatch(page, -1) {
			a, _ := strconv.ParseFloat(m[1], 64)
			b, _ := strconv.ParseFloat(strings.TrimRight(m[2], ".,;"), 64)
			if !r.right(a, b) {
				return "numbers: " + m[0]
			}
		}
	}
	if m := never.FindStringSubmatch(page); m != nil && integer(m[1]) <= integer(m[2]) {
		return "never: " + m[0]
	}
	if a, m := askedFor.FindStringSubmatch(page), needs.FindStringSubmatch(page); a != nil && m != nil && integer(a[1]) != integer(m[1]) {
		return "asked: " + a[0] + ", " + m[0]
	}
	if strings.Contains(page, " 0 jobs are ahead") {
		return "queue: 0 jobs are ahead"
	}
	if !strings.Contains(page, "\n  cluster ") {
		return ""
	}
	return againstFree(page) + againstPhase(page)
}

// againstFree compares free GPUs in a sentence with those of the page's cluster.
func againstFree(page string) string {
	page, after, _ := strings.Cut(page, "\n  afterwards ") // of another time
	_, exact, _ := strings.Cut(after, "\n  at ")
	page += exact
	free := func(typ string) int {
		m := regexp.MustCompile(`(\d+) of \d+ ` + typ + ` GPUs? free`).FindStringSubmatch(page)
		if m == nil {
			return 0
		}
		return integer(m[1])
	}
	if m := freeOf.FindStringSubmatch(page); m != nil && integer(m[3]) != free(m[2]) {
		return "free: " + m[0]
	}
	if m := lacks.FindStringSubmatch(page); m != nil && strings.Contains(page, "holds       no GPUs") && integer(m[1]) <= free(m[2]) {
		return "not free: " + m[0]
	}
	if m := regexp.MustCompile(`the plan had (\d+) (\w+) GPU.* are scattered`).FindStringSubmatch(page); m != nil && integer(m[1]) > free(m[2]) {
		return "scattered: " + m[0]
	}
	return ""
}

// againstPhase compares what a sentence says that the job does with the page's phase.
func againstPhase(page string) string {
	_, now, _ := strings.Cut(page, "\n\n")
	now, _, _ = strings.Cut(now, "\n")
	for _, c := range []struct{ says, against string }{
		{"has been waiting", "keeps its GPUs"},
		{"has been waiting", "GPUs were free"},
		{"has been waiting", "it is starting or restoring"},
		{"has been waiting", "not preemptible, and keeps"},
		{"has been running", "it is starting or restoring"},
		{"has been running", "is free, because all "},
		{"has been running", "come first"},
		{"has been running", "and none is free"},
	} {
		if strings.Contains(now, c.says) && strings.Contains(now, c.against) {
			return "phase: " + now
		}
	}
	return ""
}

// integer returns what is written; "none" is 0.
func integer(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// TestPages_do_not_contradict_themselves: of every job of crowded clusters, under every kind of
// policy, every page that can be asked for says one thing. Each policy has one of a thousand
// clusters, as RAPID_SEED says; with -short three policies have; with OXGANG_LONG there are three
// more clusters of each.
func TestPages_do_not_contradict_themselves(t *testing.T) {
	policies := []string{"oxgang", "sia", "gavel", "lyra", "pollux", "fifo", "easy", "srtf", "afs", "themis", "shockwave", "sia on hosts", "synergy on hosts", "boa on rent"}
	if testing.Short() {
		policies = draws.Some(t, 3, policies)
	}
	seeds := []string{strconv.FormatUint(1+draws.Seed(t)%1000, 10)}
	if draws.Long() {
		seeds = append(seeds, "1", "2", "3")
	}
	for _, policy := range policies {
		for _, seed := range seeds {
			t.Run(policy+" "+seed, func(t *testing.T) {
				consistent(t, overloaded(t, policy, seed))
			})
		}
	}
}

// consistent checks every page of every job of a journal.
func consistent(t *testing.T, text []byte) {
	t.Helper()
	r, err := journal.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	l := newJournalReader(r.Header(), "")
	_ = l.listen(r, func(time.Duration) {})
	seen, count := 0, map[string]int{}
	for _, id := range l.ids {
		pages(t, text, id, func(page string) {
			seen++
			bad := contradiction(page)
			if bad == "" {
				return
			}
			kind, _, _ := strings.Cut(bad, ":")
			if count[kind]++; count[kind] <= 2 {
				t.Errorf("%s\n%s", bad, page)
			}
		})
	}
	if seen < 100 {
		t.Errorf("%d pages, want at least 100", seen)
	}
	t.Logf("%d pages, against themselves: %v", seen, count)
}

// A page with a contradiction seeded into it is found, and one without is not.
func TestContradiction(t *testing.T) {
	const good = "a, 10m00s after the start of the recording, under sia\n\na has been waiting 5s: others gain 1.08 times as much per t4 GPU, compared with its best choice of 2 t4 GPUs.\n\n" +
		"  asked      4 GPUs of any type (accepts 2 or more)\n  cluster    1 of 8 t4 GPUs free; 1 job runs, 1 waits\n  at          0h10m00s\n  holds       no GPUs\n"
	if bad := contradiction(good); bad != "" {
		t.Fatal(bad)
	}
	for _, says := range []string{
		"others gain 1 times as much per t4 GPU, compared with its best choice of 2 t4 GPUs",
		"its GPUs are worth 0.9 times as much to other jobs",
		"more GPUs make it 1 times as fast",
		"another GPU type makes it 0.7 times as fast",
		"its move is better for all jobs together, and it is 0 % slower than before",
		"its previous GPUs cost 1 times as much as its present ones",
		"4 t4 GPUs would be 1.1 times as good, and a restart pays only from 1.1 times;",
		"it keeps its GPUs, as planned; 1 t4 GPU would make it faster, but are not free;",
		"it is 4 times as fast as with the fewest GPUs of its slowest type; with 1 t4 GPU, which are worth their price, it would be 3 times",
		"it needs at least 12 t4 GPUs on 3 nodes, and 1 is free;",
		"it needs at least 2 t4 GPUs, and none is free;",
		"it needs at least 2 t4 GPUs, and 4 are free;",
		" 0 jobs are ahead of it",
		"it asks for 2 GPUs, and the cluster has 8 in all;",
		"it asks for 2 GPUs of one type, and the cluster has at most 8;",
		"the plan had 2 t4 GPUs for it, but the free GPUs are scattered",
		"it keeps its GPUs, as planned",
	} {
		head, rest, _ := strings.Cut(good, "others gain")
		_, tail, _ := strings.Cut(rest, "2 t4 GPUs")
		if contradiction(head+says+tail) == "" {
			t.Errorf("nothing is found wrong with %q", says)
		}
	}
}
