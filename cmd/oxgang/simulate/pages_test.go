package simulate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/metrics"
	settings "github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
)

// TestPages: no page of "explain --journal --at" has two different numbers for the same thing. Each policy, the
// default always included, has one of a thousand crowded clusters; OXGANG_LONG checks 1,000 pages.
func TestPages(t *testing.T) {
	quick := []string{"fifo", "srtf", "easy", "las", "afs", "synergy"} // of others a page may take a minute
	policies, each := slices.Concat(quick, []string{"oxgang", "sia", "gavel", "shockwave"}), 100
	seed := draws.Seed(t)
	if !draws.Long() {
		policies, each = append(draws.Some(t, 1, quick), "oxgang"), 4
	}
	if testing.Short() {
		policies = policies[:1]
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for _, name := range policies {
		path, jobs := crowded(t, name, strconv.FormatUint(1+seed%1000, 10))
		for range each {
			at := time.Duration(10+r.IntN(80)) * time.Minute
			there := present(jobs, at)
			if len(there) == 0 {
				t.Fatalf("%s, seed %d: no job is there at %v", name, seed, at)
			}
			for _, bad := range contradictions(t, path, there[r.IntN(len(there))], at) {
				t.Errorf("%s, seed %d: %s", name, seed, bad)
			}
		}
	}
}

// present returns the jobs that have been submitted and have not ended at a time.
func present(jobs []metrics.JobResult, at time.Duration) (ids []job.ID) {
	for i := range jobs {
		if j := &jobs[i]; j.Submitted <= at.Seconds() && (j.Finished < 0 || j.Finished > at.Seconds()) {
			ids = append(ids, j.ID)
		}
	}
	return ids
}

// crowded returns the journal of a small cluster with more jobs than it has GPUs for, and its jobs.
func crowded(t *testing.T, policy, seed string) (path string, jobs []metrics.JobResult) {
	t.Helper()
	return recorded(t, policy, map[string]string{
		"seed": seed, "cluster": "t4:4x4,rtx:2x8", "generate.jobs": "40", "generate.span": "40m", "horizon": "100m",
	})
}

// TestPage_of_racks: what steps took in several racks is said of a job, once it was measured of its class.
func TestPage_of_racks(t *testing.T) {
	path, _ := recorded(t, "oxgang", map[string]string{
		"seed": "1", "cluster": "a100:12x4/rack@2", "placer": "submesh", "sim.cross-rack": "3",
		"generate.kind": "newtrace-like", "generate.jobs": "60", "generate.span": "1h",
	})
	for at, want := range map[time.Duration]bool{20 * time.Minute: false, time.Hour: true} {
		s, text := pageOf(t, path, "deepspeech2-7", at)
		c := s.Moment.Locality
		if said := strings.Contains(text, "\n  racks      steps of its class took "); said != want || (c != nil) != want {
			t.Errorf("at %v: %v of racks said, %+v, want it said: %v\n%s", at, said, c, want, text)
		}
		if want && !(c.Times > 1.01 && c.Times < 3) {
			t.Errorf("at %v: %+v, want more than 1.01 times, and less than the 3 of an exchange", at, c)
		}
	}
}

// recorded returns the journal of a run, and its jobs.
func recorded(t *testing.T, policy string, set map[string]string) (path string, jobs []metrics.JobResult) {
	t.Helper()
	c := settings.Default()
	set["policy"] = policy
	for key, value := range set {
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	in, err := run.Load(c, run.Files{})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), policy+".oxj")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := journal.NewWriter(f, run.Header(c, in, policy, "test"))
	result, err := run.Simulate(t.Context(), c, in, policy, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, result.Result.Jobs
}

// pageOf returns what is said of a job at a time, also as text.
func pageOf(t *testing.T, path string, id job.ID, at time.Duration) (*explain.Story, string) {
	t.Helper()
	e := explanation{journal: path, job: string(id), at: at, moment: true, budget: time.Hour}
	j, err := cli.OpenJournalFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s, err := e.recorded(j.File)
	if err != nil {
		t.Fatal(err)
	}
	e.again(t.Context(), j.File, s)
	var text strings.Builder
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	return s, text.String()
}

var (
	inLine = regexp.MustCompile(`(?m)^  (afterwards) its record shows that (\S+) later `)
	of     = regexp.MustCompile(`(?:of the|among) (\d+) jobs?\b`)
	rest   = regexp.MustCompile(`would get (\d+) more|(\d+) more would be free`)
	has    = regexp.MustCompile(`(?:running on|got) (\d+) (?:\S+ )?(?:GPU|CPU)`)
)

// contradictions returns what the page of a job says against itself, or against that of a job that it names.
func contradictions(t *testing.T, path string, id job.ID, at time.Duration) []string {
	s, text := pageOf(t, path, id, at)
	m := s.Moment
	all := append(ranges(m), amounts(m, text)...)
	if n := m.Change; n != nil && n.Kind == counterfactual.JobsEnd && len(n.Jobs) == 1 && n.In > 0 {
		if other, said := pageOf(t, path, n.Jobs[0], at); other.Moment.End == nil || time.Duration(other.Moment.End.Likely) != n.In {
			all = append(all, fmt.Sprintf("job %s is to end in %v, and by its own page:\n%s", n.Jobs[0], n.In, said))
		}
	}
	for i := range all {
		all[i] += "\n" + text
	}
	return all
}

// ranges finds times in a wrong order.
func ranges(m *explain.Moment) (all []string) {
	known := func(e *explain.Expected) bool { return e != nil && e.Unknown == "" }
	for _, e := range []*explain.Expected{m.Start, m.End} {
		if known(e) && (e.Early > e.Likely || e.Likely > e.Late) {
			all = append(all, "a range whose median is outside")
		}
	}
	if known(m.Start) && known(m.End) && (m.End.Early < m.Start.Early || m.End.Likely <= m.Start.Likely || m.End.Late < m.Start.Late) {
		all = append(all, "it ends before it starts")
	}
	return all
}

// amounts finds numbers of jobs and of GPUs, and times, that differ from others.
func amounts(m *explain.Moment, text string) (all []string) {
	if m.Ended || m.Since == nil {
		return nil
	}
	if n := of.FindStringSubmatch(m.Weight); m.Weight != "" && (n == nil || atoi(n[1]) > m.Cluster.Running+m.Cluster.Waiting) {
		all = append(all, "jobs: "+m.Weight)
	}
	if n := has.FindStringSubmatch(m.Sentence); n != nil && (m.Holds == nil || m.Holds.Also == nil && n[1] != strconv.Itoa(m.Holds.GPUs)) {
		all = append(all, "GPUs: "+n[0])
	}
	taken := 0
	for _, k := range m.Takers {
		taken += k.GPUs
	}
	if m.Before != nil && m.Before.Also == nil && taken > m.Before.GPUs {
		all = append(all, fmt.Sprintf("%d GPUs went to others", taken))
	}
	if c := m.Change; c != nil && c.Kind == counterfactual.MoreGPUs && c.GPUs > c.Gets.AllGPUs() {
		told := 0 // what becomes of the rest
		for _, n := range rest.FindAllStringSubmatch(m.Unblock, -1) {
			told += atoi(n[1] + n[2])
		}
		if told < c.GPUs-c.Gets.AllGPUs() {
			all = append(all, "more GPUs are added than it and others would get")
		}
	}
	if n := inLine.FindStringSubmatch(text); n != nil && m.NextAt != nil && n[2] != printable.Duration(time.Duration(*m.NextAt-m.At)) {
		all = append(all, "next: "+n[0])
	}
	return all
}

func atoi(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// TestPage_of_too_many_jobs: without processor time for the forecast, a page has the reason and states what is missing.
func TestPage_of_too_many_jobs(t *testing.T) {
	path, jobs := crowded(t, "fifo", "1")
	e := explanation{journal: path, job: string(jobs[len(jobs)-1].ID), at: 60 * time.Minute, moment: true, format: "text", budget: -time.Hour}
	var text strings.Builder
	if err := e.run(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" jobs are ahead of it", "\n  forecast   unknown: the prediction took too long and was stopped\n", "\n  afterwards "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
