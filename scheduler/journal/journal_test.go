package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return start.Add(d) }

func testCluster(t testing.TB) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New([]cluster.Node{
		{ID: "a0", GPUType: "a100", Capacity: cluster.Resources{GPUs: 8, CPUs: 96, Memory: 1 << 40}, GPUMemory: 40 << 30, Price: 4.1, Power: 400},
		{ID: "t0", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Group: "lent", Tenure: cluster.Loaned, Rack: "r1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func testHeader(t testing.TB) Header {
	return Header{
		Tool: "oxgang test", Policy: "sia", Settings: []Setting{{"p", "-0.5"}, {"lambda", "1.1"}},
		Seed: math.MaxUint64, Start: start, Round: time.Minute, Cluster: testCluster(t),
	}
}

func snapshot(at time.Duration, round int, ids ...job.ID) *policy.Snapshot {
	s := &policy.Snapshot{Now: after(at), Round: round, Length: time.Minute}
	for _, id := range ids {
		s.Jobs = append(s.Jobs, &policy.Job{Spec: &job.Spec{ID: id}})
	}
	return s
}

func gpus(nodes, n int, t cluster.GPUType) cluster.Allocation {
	return cluster.Allocation{Configuration: cluster.Configuration{Nodes: nodes, GPUs: n, GPUType: t}}
}

func on(node cluster.NodeID, n int) cluster.Placement {
	return cluster.Placement{{Node: node, Resources: cluster.Resources{GPUs: n}}}
}

var (
	started = policy.Decision{Allocation: gpus(1, 4, "a100"), Placement: on("a0", 4), Why: policy.Reason{Kind: policy.Started, Value: 1.9}}
	waits   = policy.Decision{Why: policy.Reason{Kind: policy.WaitPrice, Config: gpus(1, 2, "a100").Configuration, Value: 1.2, Limit: 1.8}}
	report  = job.Report{
		Job: "bert-3", Interval: 30 * time.Second, Configuration: started.Allocation.Configuration, Batch: job.BatchSize{Local: 12, Accumulation: 1},
		StepTime: 210 * time.Millisecond, SyncTime: 40500 * time.Microsecond, GradSqr: 1.5, GradVar: 0.75, Progress: 812.5, Epoch: 2,
	}
)

func record(w *Writer, c *cluster.Cluster) {
	w.Event(after(5*time.Second), scheduler.Submitted{Spec: &job.Spec{ID: "bert-3", GPUs: 4}})
	w.Event(after(6500*time.Millisecond), scheduler.Submitted{Spec: &job.Spec{ID: "gpt-1", GPUs: 2}})
	run := scheduler.Run{Job: "bert-3", Allocation: started.Allocation, Placement: started.Placement}
	w.Round(snapshot(time.Minute, 1, "bert-3", "gpt-1"), &policy.Plan{
		Jobs: []policy.Decision{started, waits}, Prices: []policy.TypePrice{{Type: "a100", Price: 1.8}},
		Stats: policy.Stats{Iterations: 12, Objective: 3.4, Bound: 3.5, Gap: 0.02},
	}, []scheduler.Action{run, scheduler.Profile{Job: "gpt-1", Types: []cluster.GPUType{"a100", "t4"}}, scheduler.Compute{}})
	w.Event(after(91*time.Second), scheduler.Reported{Report: report})
	w.Event(after(92*time.Second), scheduler.Profiled{Job: "gpt-1"})
	w.Event(after(93*time.Second), scheduler.Computed{Result: "not written"})
	w.Round(snapshot(2*time.Minute, 2, "bert-3", "gpt-1"), &policy.Plan{Jobs: []policy.Decision{started, waits}}, nil)
	w.Event(after(150*time.Second), scheduler.Exited{Job: "bert-3", Outcome: scheduler.Lost, Detail: `node "a0" fällt aus`})
	w.Event(after(151*time.Second), scheduler.NodesChanged{Cluster: c})
	w.Round(snapshot(3*time.Minute, 3, "gpt-1"), &policy.Plan{Jobs: []policy.Decision{waits}, Refused: "too much"},
		[]scheduler.Action{scheduler.Preempt{Job: "gpt-1"}})
}

// golden is the run of record, as format 1 wrote it.
const golden = `{"oxj":1,"tool":"oxgang test","policy":"sia","settings":[["p","-0.5"],["lambda","1.1"]],"seed":18446744073709551615,"start":"2000-01-01T00:00:00Z","round":60,"nodes":[{"id":"a0","type":"a100","gpus":8,"cpus":96,"memory":1099511627776,"gpu_memory":42949672960,"price":4.1,"power":400},{"id":"t0","type":"t4","gpus":4,"group":"lent","tenure":1,"rack":"r1"}]}
{"t":5,"submit":{"id":"bert-3","gpus":4}}
{"t":6.5,"submit":{"id":"gpt-1","gpus":2}}
{"t":60,"round":{"n":1,"jobs":[{"id":"bert-3","gets":[1,4,"a100"],"on":[["a0",4]],"why":["started",1.9]},{"id":"gpt-1","why":["waiting: price too high",1.2,1.8,[1,2,"a100"]]}],"prices":[["a100",1.8]],"stats":[12,3.4,3.5,0.02],"do":[{"run":"bert-3","gets":[1,4,"a100"],"on":[["a0",4]]},{"profile":"gpt-1","types":["a100","t4"]},{"compute":true}]}}
{"t":91,"report":["bert-3",30,1,4,"a100",12,1,0.21,0.0405,1.5,0.75,812.5,2]}
{"t":92,"profiled":"gpt-1"}
{"t":93,"computed":true}
{"t":120,"round":{"n":2}}
{"t":150,"exit":["bert-3","lost","node \"a0\" fällt aus"]}
{"t":151,"nodes":[{"id":"a0","type":"a100","gpus":8,"cpus":96,"memory":1099511627776,"gpu_memory":42949672960,"price":4.1,"power":400},{"id":"t0","type":"t4","gpus":4,"group":"lent","tenure":1,"rack":"r1"}]}
{"t":180,"round":{"n":3,"left":["bert-3"],"refused":"too much","do":[{"preempt":"gpt-1"}]}}
`

func TestWriter_writes_the_documented_format(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, testHeader(t))
	record(w, testCluster(t))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sealed(golden), out.String()); diff != "" {
		t.Error(diff)
	}
}

func readAll(t testing.TB, text string) (*Reader, []Record, error) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var all []Record
	for rec, err := range r.Records() {
		if err != nil {
			return r, all, err
		}
		all = append(all, rec)
	}
	return r, all, nil
}

var byValue = cmp.Options{
	cmp.Transformer("nodes", func(c *cluster.Cluster) []cluster.Node { return c.Nodes() }),
}

func TestReader_returns_what_was_written(t *testing.T) {
	r, got, err := readAll(t, golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(testHeader(t), r.Header(), byValue); diff != "" {
		t.Errorf("header: %s", diff)
	}
	want := []Record{
		{Line: 2, At: 5 * time.Second, Event: scheduler.Submitted{Spec: &job.Spec{ID: "bert-3", GPUs: 4}}},
		{Line: 3, At: 6500 * time.Millisecond, Event: scheduler.Submitted{Spec: &job.Spec{ID: "gpt-1", GPUs: 2}}},
		{Line: 4, At: time.Minute, Round: &Round{
			Number: 1, Changed: []Change{{"bert-3", started}, {"gpt-1", waits}},
			Prices: []policy.TypePrice{{Type: "a100", Price: 1.8}},
			Stats:  policy.Stats{Iterations: 12, Objective: 3.4, Bound: 3.5, Gap: 0.02},
			Actions: []scheduler.Action{
				scheduler.Run{Job: "bert-3", Allocation: started.Allocation, Placement: started.Placement},
				scheduler.Profile{Job: "gpt-1", Types: []cluster.GPUType{"a100", "t4"}},
				scheduler.Compute{},
			},
		}},
		{Line: 5, At: 91 * time.Second, Event: scheduler.Reported{Report: report}},
		{Line: 6, At: 92 * time.Second, Event: scheduler.Profiled{Job: "gpt-1"}},
		{Line: 7, At: 93 * time.Second, Event: scheduler.Computed{}},
		{Line: 8, At: 2 * time.Minute, Round: &Round{Number: 2}},
		{Line: 9, At: 150 * time.Second, Event: scheduler.Exited{Job: "bert-3", Outcome: scheduler.Lost, Detail: `node "a0" fällt aus`}},
		{Line: 10, At: 151 * time.Second, Event: scheduler.NodesChanged{Cluster: testCluster(t)}},
		{Line: 11, At: 3 * time.Minute, Round: &Round{
			Number: 3, Left: []job.ID{"bert-3"}, Refused: "too much", Actions: []scheduler.Action{scheduler.Preempt{Job: "gpt-1"}},
		}},
	}
	if diff := cmp.Diff(want, got, byValue); diff != "" {
		t.Error(diff)
	}
}

// fill sets every field of a struct to something that is not zero.
func fill(v reflect.Value, n *int) {
	*n++
	if at, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
		*at = start.Add(time.Duration(*n) * time.Millisecond)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, n)
		}
	case reflect.String:
		v.SetString(fmt.Sprint("s", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.1)
	case reflect.Uint8:
		v.SetUint(uint64(1 + *n%3))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Map:
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(elem, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, elem)
	default:
		panic("fill: " + v.Kind().String())
	}
}

// Every field of what is submitted, reported or joined survives: a field
// added to one of these types fails here until the journal carries it.
func TestEvents_keep_every_field(t *testing.T) {
	n := 0
	var spec job.Spec
	var rep job.Report
	var node cluster.Node
	var status job.Status
	for _, v := range []any{&spec, &rep, &node, &status} {
		fill(reflect.ValueOf(v).Elem(), &n)
	}
	status.Phase = job.Running
	c, err := cluster.New([]cluster.Node{node})
	if err != nil {
		t.Fatal(err)
	}
	want := []scheduler.Event{
		scheduler.Submitted{Spec: &spec},
		scheduler.Reported{Report: rep},
		scheduler.NodesChanged{Cluster: c},
		scheduler.Described{Spec: &spec},
		scheduler.Restored{Spec: &spec, Status: status, Batch: job.BatchSize{Local: 3, Accumulation: 1}, Reports: []job.Report{rep, rep}},
		scheduler.Restored{Spec: &spec, Status: job.Status{Phase: job.Completed}},
		scheduler.Submitted{Spec: &job.Spec{ID: "x", GPUsPerReplica: map[cluster.GPUType]int{}}}, // not nil: no type is eligible
	}
	var out bytes.Buffer
	w := NewWriter(&out, testHeader(t))
	for _, ev := range want {
		w.Event(start, ev)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, got, err := readAll(t, out.String())
	if err != nil {
		t.Fatal(err)
	}
	for i, rec := range got {
		if diff := cmp.Diff(want[i], rec.Event, byValue); diff != "" {
			t.Errorf("%T: %s", want[i], diff)
		}
	}
}

// The reader knows of every job of every round exactly what was decided.
func TestRounds_survive_whatever_changes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		c, _ := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 1}}})
		w := NewWriter(&out, Header{Start: start, Round: time.Second, Cluster: c})
		var want []map[job.ID]policy.Decision
		for round := range rapid.IntRange(1, 6).Draw(t, "rounds") {
			s, p, all := snapshot(time.Duration(round)*time.Second, round), &policy.Plan{}, map[job.ID]policy.Decision{}
			for i := range 4 {
				id := job.ID(fmt.Sprintf("j\u00e9\"%d", i))
				if !rapid.Bool().Draw(t, "present") {
					continue
				}
				s.Jobs = append(s.Jobs, &policy.Job{Spec: &job.Spec{ID: id}})
				all[id] = anyDecision(t)
				p.Jobs = append(p.Jobs, all[id])
			}
			want = append(want, all)
			w.Round(s, p, nil)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		checkRounds(t, &out, want)
	})
}

func TestPrices_survive(t *testing.T) {
	c, _ := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 1}}})
	for _, want := range [][]policy.TypePrice{
		{{Type: "t4", Price: 1.8}}, {{Type: "t4", CPU: 0.25, Memory: 0.004}}, {{Type: "t4", Price: 1, Memory: 0.5}, {Type: "a100"}},
	} {
		var out bytes.Buffer
		w := NewWriter(&out, Header{Start: start, Round: time.Second, Cluster: c})
		w.Round(snapshot(time.Second, 1), &policy.Plan{Prices: want}, nil)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(&out)
		if err != nil {
			t.Fatal(err)
		}
		for rec, err := range r.Records() {
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, rec.Round.Prices); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func anyDecision(t *rapid.T) policy.Decision {
	some := rapid.IntRange(0, 2)
	d := policy.Decision{
		Allocation: gpus(some.Draw(t, "nodes"), some.Draw(t, "gpus"), rapid.SampledFrom([]cluster.GPUType{"", "t4"}).Draw(t, "type")),
		Batch:      job.BatchSize{Local: some.Draw(t, "local"), Accumulation: some.Draw(t, "accumulation")},
		Why: policy.Reason{
			Kind:  rapid.SampledFrom(policy.Kinds()).Draw(t, "kind"),
			Value: float64(some.Draw(t, "value")) / 3, Limit: float64(some.Draw(t, "limit")),
			Config: gpus(some.Draw(t, "n"), some.Draw(t, "r"), "").Configuration,
		},
	}
	d.Allocation.Also = gpus(some.Draw(t, "other nodes"), some.Draw(t, "other gpus"), rapid.SampledFrom([]cluster.GPUType{"", "v100"}).Draw(t, "other type")).Configuration
	d.Allocation.CPUs, d.Allocation.Memory = float64(some.Draw(t, "cpus")), int64(some.Draw(t, "memory"))
	for range some.Draw(t, "shares") {
		d.Placement = append(d.Placement, cluster.Share{Node: "n", Resources: cluster.Resources{GPUs: some.Draw(t, "g"), CPUs: 0.5}})
	}
	return d
}

func checkRounds(t *rapid.T, in *bytes.Buffer, want []map[job.ID]policy.Decision) {
	r, err := NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	got := map[job.ID]policy.Decision{}
	i := 0
	for rec, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range rec.Round.Left {
			delete(got, id)
		}
		for _, c := range rec.Round.Changed {
			got[c.Job] = c.Decision
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Fatalf("round %d: %s", i, diff)
		}
		i++
	}
	if i != len(want) {
		t.Fatalf("got %d rounds, want %d", i, len(want))
	}
}

func TestRounds_keep_their_stats(t *testing.T) {
	for _, want := range []policy.Stats{
		{}, {Iterations: 3, Objective: 1, Bound: 2, Gap: 0.5}, {Interrupted: true}, {Failed: "no \"solution\""}, {Interrupted: true, Failed: "too slow"},
	} {
		var out bytes.Buffer
		w := NewWriter(&out, testHeader(t))
		w.Round(snapshot(time.Minute, 1), &policy.Plan{Stats: want}, nil)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, got, err := readAll(t, out.String())
		if err != nil || len(got) != 1 || got[0].Round.Stats != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestReader_keeps_what_came_before_a_cut(t *testing.T) {
	first := strings.IndexByte(golden, '\n') + 1
	for cut := first; cut < len(golden); cut++ {
		_, got, err := readAll(t, golden[:cut])
		whole := strings.Count(golden[:cut], "\n") - 1
		inside := golden[cut-1] != '\n'
		if inside && golden[cut] == '\n' { // complete but for its line feed
			whole, inside = whole+1, false
		}
		if len(got) != whole || errors.Is(err, ErrTruncated) != inside || (err != nil) != inside {
			t.Fatalf("cut at %d: got %d records and error %v, want %d, truncated: %v", cut, len(got), err, whole, inside)
		}
	}
	for cut := 1; cut < first-1; cut++ {
		if _, err := NewReader(strings.NewReader(golden[:cut])); !errors.Is(err, ErrTruncated) {
			t.Fatalf("header cut at %d: got %v, want %v", cut, err, ErrTruncated)
		}
	}
}

func TestNewReader_rejects(t *testing.T) {
	header := golden[:strings.IndexByte(golden, '\n')+1]
	for name, c := range map[string]struct{ text, want string }{
		"an empty file":       {"", "journal: empty, want a header"},
		"another file":        {"time,job\n", `want a journal's header`},
		"other JSON":          {"{\"a\":1}\n", `with key "oxj"`},
		"another version":     {strings.Replace(header, `"oxj":1`, `"oxj":3`, 1), "line 1: format version 3, want 1 or 2"},
		"an unknown key":      {strings.Replace(header, `"tool"`, `"colour"`, 1), `unknown field "colour"`},
		"no start":            {strings.Replace(header, "2000-01-01", "0001-01-01", 1), "no start time"},
		"a round of no time":  {strings.Replace(header, `"round":60`, `"round":0`, 1), "round length is 0s, want more than 0"},
		"a negative round":    {strings.Replace(header, `"round":60`, `"round":-1`, 1), `got "-1", want seconds`},
		"a node without GPUs": {strings.Replace(header, `"gpus":8`, `"gpus":0`, 1), "0 GPUs, want at least 1"},
		"two records a line":  {strings.TrimSpace(header) + "{}\n", "want a journal's header"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewReader(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

func TestReader_rejects(t *testing.T) {
	header := golden[:strings.IndexByte(golden, '\n')+1]
	for name, c := range map[string]struct{ line, want string }{
		"an empty line":        {"", `column 1: got end of line, want "{"`},
		"no time":              {`{"exit":["a","done"]}`, `column 2: got "\"exit\":[\"a\",\"done\"]}", want "t"`},
		"a negative time":      {`{"t":-1,"profiled":"a"}`, `column 6: got "-1,\"profiled\":\"a\"}", want seconds`},
		"NaN":                  {`{"t":NaN,"profiled":"a"}`, "want a number"},
		"too long ago":         {`{"t":99999999999,"profiled":"a"}`, "want seconds"},
		"an unknown record":    {`{"t":1,"party":"a"}`, `column 8: got "\"party\":\"a\"}", want "submit"`},
		"an overflow":          {`{"t":1,"round":{"prices":[["t4",1e999]]}}`, "want a finite number"},
		"a huge count":         {`{"t":1,"report":["a",1,1,9999999999999,"t4"]}`, "want a whole number from 0 to"},
		"an unknown kind":      {`{"t":1,"round":{"n":1,"jobs":[{"id":"a","why":["mood"]}]}}`, "want a kind of reason"},
		"an unknown key":       {`{"t":1,"round":{"n":1,"x":2}}`, `unknown key "x"`},
		"an unknown outcome":   {`{"t":1,"exit":["a","bored"]}`, "want an outcome"},
		"an unknown action":    {`{"t":1,"round":{"n":1,"do":[{"walk":"a"}]}}`, `want "run", "preempt", "profile", "compute", "provision" or "return"`},
		"no work":              {`{"t":1,"round":{"n":1,"do":[{"compute":false}]}}`, "want true"},
		"no end of work":       {`{"t":1,"computed":7}`, "want true"},
		"a job without name":   {`{"t":1,"profiled":""}`, "want a job ID"},
		"a spec without name":  {`{"t":1,"submit":{"gpus":4}}`, "no job ID"},
		"a spec of minus four": {`{"t":1,"submit":{"id":"a","gpus":-4}}`, "job a: got a count of -4"},
		"a spec of NaN":        {`{"t":1,"submit":{"id":"a","target":NaN}}`, "submission: invalid character"},
		"nodes used twice":     {`{"t":1,"nodes":[{"id":"a","type":"t4","gpus":1},{"id":"a","type":"t4","gpus":1}]}`, "used twice"},
		"too many nodes":       {`{"t":1,"nodes":[],"rentals":[{"node":{"type":"t4","gpus":1,"group":"g"},"most":-1}]}`, `rentals: group "g": -1 nodes`},
		"an offer of no GPUs":  {`{"t":1,"nodes":[],"rentals":[{"node":{"type":"t4","gpus":0,"group":"g"},"most":1}]}`, `rentals: node 0 ("group g"): 0 GPUs`},
		"no number of nodes":   {`{"t":1,"round":{"n":1,"do":[{"provision":"g","nodes":-1}]}}`, "want a whole number"},
		"more after the end":   {`{"t":1,"profiled":"a"}]`, "want end of record"},
		"an open bracket":      {`{"t":1,"submit":{"id":"a"`, "want closing bracket"},
		"bad UTF-8":            {"{\"t\":1,\"profiled\":\"\xff\"}", "want a string"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := readAll(t, header+c.line+"\n")
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "journal: line 2: ") {
				t.Errorf("got error %v, want %q in line 2", err, c.want)
			}
		})
	}
	t.Run("time that goes back", func(t *testing.T) {
		_, got, err := readAll(t, header+"{\"t\":2,\"profiled\":\"a\"}\n{\"t\":1,\"profiled\":\"a\"}\n")
		if len(got) != 1 || err == nil || err.Error() != "journal: line 3: time goes back from 2s to 1s" {
			t.Errorf("got %d records and error %v", len(got), err)
		}
	})
}

// endless is a line that never ends.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestReader_bounds_a_line(t *testing.T) {
	src := &endless{}
	_, err := NewReader(src)
	if err == nil || !strings.Contains(err.Error(), "line 1: more than 67108864 bytes") || src.read > maxLine+1<<20 {
		t.Errorf("got error %v after %d bytes", err, src.read)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriter_reports_the_first_error(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *Writer)
		want string
	}{
		"NaN": {func(w *Writer) {
			w.Round(snapshot(time.Second, 1, "a"), &policy.Plan{Jobs: []policy.Decision{{Why: policy.Reason{Value: math.NaN()}}}}, nil)
			record(w, testCluster(t))
		}, "journal: round at 1s: got NaN, want a finite number"},
		"a negative duration": {func(w *Writer) {
			w.Event(start, scheduler.Reported{Report: job.Report{Job: "a", StepTime: -1}})
		}, "journal: event at 0s: negative duration, want at least 0"},
		"time that goes back": {func(w *Writer) {
			w.Event(after(2), scheduler.Profiled{Job: "a"})
			w.Event(after(1), scheduler.Profiled{Job: "a"})
		}, "time goes back from 2ns to 1ns"},
		"time before the start": {func(w *Writer) { w.Event(after(-1), scheduler.Profiled{Job: "a"}) }, "time goes back from 0s to -1ns"},
		"a plan of another size": {func(w *Writer) {
			w.Round(snapshot(0, 7, "a", "b"), &policy.Plan{Jobs: make([]policy.Decision, 1)}, nil)
		}, "round 7: 1 decisions, want one for each of 2 jobs"},
		"bad UTF-8": {func(w *Writer) { w.Event(start, scheduler.Profiled{Job: "\xff"}) }, `got string "\xff", want UTF-8`},
		"nil":       {func(w *Writer) { w.Event(start, nil) }, "got event <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewWriter(&bytes.Buffer{}, testHeader(t))
			c.do(w)
			if err := w.Close(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
	t.Run("a full disk", func(t *testing.T) {
		w := NewWriter(full{}, testHeader(t))
		record(w, testCluster(t))
		if err := w.Flush(); err == nil || err.Error() != "journal: write: disk full" {
			t.Errorf("got error %v", err)
		}
	})
	t.Run("a bad header", func(t *testing.T) {
		if err := NewWriter(&bytes.Buffer{}, Header{}).Close(); err == nil || !strings.Contains(err.Error(), "no start time\nround length is 0s, want more than 0\nno cluster") {
			t.Errorf("got error %v", err)
		}
	})
}

func TestSeconds_are_exact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(0, math.MaxInt64-nanos).Draw(t, "nanoseconds"))
		text := string(appendSeconds(nil, want))
		got, err := parseSeconds(text)
		if err != nil || got != want || strings.HasSuffix(text, ".") || strings.Contains(text, ".") && strings.HasSuffix(text, "0") {
			t.Fatalf("%d: got %d, %v through %s", want, got, err, text)
		}
	})
}

// The time of a line is read from its head; a line without one is passed over, whatever it has.
func TestTimeIn(t *testing.T) {
	for head, want := range map[string]time.Duration{`{"t":1.5,"round":3`: 1500 * time.Millisecond, `{"t":0,`: 0, `{"t":7`: 0, `{"t":`: 0, `3,`: 0, `{"t":x,`: 0, ``: 0} {
		if at, whole, err := timeIn([]byte(head)); at != want || !whole || err != nil {
			t.Errorf("%s: %v, %t, %v; want %v", head, at, whole, err, want)
		}
	}
}

// A restored job without reports has no list of them.
func TestWriter_leaves_out_empty_reports(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 2: 1} {
		var out bytes.Buffer
		w := NewWriter(&out, testHeader(t))
		w.Event(start, scheduler.Restored{Spec: &job.Spec{ID: "a"}, Reports: make([]job.Report, n)})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), `"reports"`); got != want {
			t.Errorf("%d reports: %d lists, want %d", n, got, want)
		}
	}
}
