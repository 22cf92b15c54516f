package ledger_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/ledger"
)

var start = time.Unix(1e9, 0)

func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

func node(id cluster.NodeID, t cluster.GPUType, of cluster.Tenure, g cluster.Group, price cluster.Price) cluster.Node {
	return cluster.Node{ID: id, GPUType: t, Tenure: of, Group: g, Price: price, Capacity: cluster.Resources{GPUs: 4}}
}

func nodes(t *testing.T, all ...cluster.Node) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A story is a run that is told by hand: rounds of 60 s.
type story struct {
	t       *testing.T
	rec     *ledger.Recorder
	book    ledger.Book
	cluster *cluster.Cluster
	rentals []cluster.Rental
}

func (s *story) event(seconds float64, ev scheduler.Event) { s.rec.Event(at(seconds), ev) }

func (s *story) submit(seconds float64, id, queue, user string) {
	s.event(seconds, scheduler.Submitted{Spec: &job.Spec{ID: job.ID(id), Name: "name-" + id, Queue: queue, User: user}})
}

func (s *story) round(seconds float64, prices []policy.TypePrice, actions ...scheduler.Action) {
	snap := &policy.Snapshot{Now: at(seconds), Length: time.Minute, Cluster: s.cluster, Rentals: s.rentals}
	s.rec.Round(snap, &policy.Plan{Prices: prices}, actions)
}

func (s *story) change(seconds float64, c *cluster.Cluster, rentals []cluster.Rental) {
	s.cluster, s.rentals = c, rentals
	s.event(seconds, scheduler.NodesChanged{Cluster: c, Rentals: rentals})
}

func run(id job.ID, t cluster.GPUType, shares ...cluster.Share) scheduler.Run {
	a := scheduler.Run{Job: id, Placement: shares}
	a.Allocation.Configuration = cluster.Configuration{Nodes: len(shares), GPUs: cluster.Placement(shares).GPUs(), GPUType: t}
	return a
}

func share(id cluster.NodeID, gpus int) cluster.Share {
	return cluster.Share{Node: id, Resources: cluster.Resources{GPUs: gpus, CPUs: 2, Memory: 3e9}}
}

func (s *story) state(by ...string) *ledger.Statement {
	s.t.Helper()
	got, err := s.book.State(by, s.rec.Movements()...)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// day is a run of two queues on owned, rented and lent nodes. Job a has two GPUs of "own" from 60 s
// until it ends at 150 s, and so until 180 s; b has four of the rented node and, from 120 s, two of
// the lent one instead; it is preempted at 180 s.
func day(t *testing.T) *story {
	own, lent, rented := node("own", "t4", cluster.Owned, "rack-1", 9), node("lent", "t4", cluster.Loaned, "t4-loan", 0), node("rent", "a100", cluster.Rented, "a100-4", 3)
	offer := cluster.Offer{Group: "a100-4", Node: rented, Most: 2}
	s := &story{t: t, cluster: nodes(t, own)}
	s.rec = ledger.NewRecorder(start, nodes(t, own, lent, rented), s.book.Add)
	s.submit(0, "a", "red", "ann")
	s.submit(30, "b", "blue", "bob")
	s.change(30, s.cluster, []cluster.Rental{{Offer: offer, Starting: 1}})
	s.event(40, scheduler.Reported{Report: job.Report{Job: "b", Profile: true, Interval: 1500 * time.Millisecond, Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "t4"}}})
	s.change(60, nodes(t, own, rented, lent), []cluster.Rental{{Offer: offer, Ready: 1}})
	s.round(60, []policy.TypePrice{{Type: "t4", Price: 1, CPU: 0.1, Memory: 0.01}, {Type: "a100", Price: 5}}, run("a", "t4", share("own", 2)), run("b", "a100", share("rent", 4)))
	s.round(120, []policy.TypePrice{{Type: "t4", Price: 2}}, run("b", "t4", share("lent", 2)), scheduler.Return{Nodes: []cluster.NodeID{"rent"}})
	s.change(120, nodes(t, own, lent), []cluster.Rental{{Offer: offer, Leaving: 1}})
	s.event(150, scheduler.Exited{Job: "a", Outcome: scheduler.Done})
	s.round(180, nil, scheduler.Preempt{Job: "b"})
	s.change(200, s.cluster, []cluster.Rental{{Offer: offer}})
	s.change(240, nodes(t, own), nil)
	s.event(250, scheduler.Exited{Job: "b", Outcome: scheduler.Cancelled})
	s.rec.Close()
	return s
}

func seconds(s float64) ledger.GPUTime { return ledger.Of(1, time.Duration(s*float64(time.Second))) }

// TestRecorder compares a run with what was counted by hand.
func TestRecorder(t *testing.T) {
	got := day(t).state("queue", "user", "class", "job")
	a := ledger.Row{
		Of: []string{"red", "ann", "name-a", "a"}, Jobs: 1, Used: seconds(240), Owned: seconds(240), Idle: seconds(60), Priced: seconds(240),
		Paid: 2*1 + 2*0.1 + 3*0.01 + 2*2,
	}
	b := ledger.Row{
		Of: []string{"blue", "bob", "name-b", "b"}, Jobs: 1, Used: seconds(240 + 120 + 1.5), Owned: seconds(1.5), Rented: seconds(240), Loaned: seconds(120),
		Profiling: seconds(1.5), Priced: seconds(360), Paid: 4*5 + 2*2, Rent: 4 * 3 / 60.,
	}
	a.PaidShare, b.PaidShare = a.Paid/(a.Paid+b.Paid), b.Paid/(a.Paid+b.Paid)
	a.UsedShare, b.UsedShare = 240/601.5, 361.5/601.5
	near := cmp.Options{
		cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-12 }), cmp.AllowUnexported(ledger.GPUTime{}),
		cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".jobs" }, cmp.Ignore()),
	}
	if diff := cmp.Diff([]ledger.Row{b, a}, got.Rows, near); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	total := ledger.Row{
		Jobs: 2, Used: seconds(601.5), Owned: seconds(241.5), Rented: seconds(240), Loaned: seconds(120), Profiling: seconds(1.5), Idle: seconds(60),
		Priced: seconds(600), Paid: a.Paid + b.Paid, UsedShare: 1, PaidShare: 1, Rent: b.Rent,
	}
	if diff := cmp.Diff(total, got.Total, near); diff != "" {
		t.Errorf("total (-want +got):\n%s", diff)
	}
	pools := []ledger.Supply{
		{
			Type: "a100", Tenure: "rented", Group: "a100-4", Came: 1, Returned: 1, There: seconds(4 * 140), Jobs: seconds(240), Leaving: seconds(4 * 80),
			Starting: seconds(4 * 30), Rent: 4 * 3 * 170 / 3600., Nobody: 4 * 3 * 110 / 3600.,
		},
		{Type: "t4", Tenure: "owned", There: seconds(4 * 250), Jobs: seconds(240), Free: seconds(4*250 - 240)},
		{Type: "t4", Tenure: "loaned", Group: "t4-loan", Came: 1, Gone: 1, There: seconds(4 * 180), Jobs: seconds(120), Free: seconds(4*180 - 120)},
	}
	if diff := cmp.Diff(pools, got.Pools, near); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
}

// Rows by any keys sum to the same.
func TestState_by_any_keys(t *testing.T) {
	s := day(t)
	want := s.state().Total
	for _, by := range append([]string{""}, ledger.Keys()...) {
		var keys []string
		if by != "" {
			keys = []string{by}
		}
		var used, paid float64
		for _, r := range s.state(keys...).Rows {
			used, paid = used+r.Used.Seconds(), paid+r.Paid
		}
		if used != want.Used.Seconds() || math.Abs(paid-want.Paid) > 1e-12 {
			t.Errorf("by %q: %v GPU-seconds at %v, want %v at %v", by, used, paid, want.Used, want.Paid)
		}
	}
	for _, by := range [][]string{{"team"}, {"user", "user"}} {
		if _, err := s.book.State(by); err == nil {
			t.Errorf("by %v: no error", by)
		}
	}
}

func TestWrite(t *testing.T) {
	var text strings.Builder
	s := day(t).state("queue", "group")
	if err := s.Write(&text); err != nil {
		t.Fatal(err)
	}
	want := `QUEUE  GROUP    JOBS  GPU-H  GPU-H (%)  OWNED  LOANED  RENTED  PROFILING  IDLE  PRICED  COST   COST (%)  RENT
blue   -        1     0.00   0.25       0.00   0.00    0.00    0.00       0.00  0.00    0.00   0.00      0.00
blue   a100-4   1     0.07   39.90      0.00   0.00    0.07    0.00       0.00  0.07    20.00  66.16     0.20
blue   t4-loan  1     0.03   19.95      0.00   0.03    0.00    0.00       0.00  0.03    4.00   13.23     0.00
red    -        1     0.07   39.90      0.07   0.00    0.00    0.00       0.02  0.07    6.23   20.61     0.00
total           2     0.17   100.00     0.07   0.03    0.07    0.00       0.02  0.17    30.23  100.00    0.20

TYPE  TENURE  GROUP    NODES CAME  RETURNED  LOST  GPU-H  HELD  FREE  LEAVING  STARTING  RENT  RENT UNUSED
a100  rented  a100-4   1           1         0     0.16   0.07  0.00  0.09     0.03      0.57  0.37
t4    owned            0           0         0     0.28   0.07  0.21  0.00     0.00      0.00  0.00
t4    loaned  t4-loan  1           0         1     0.20   0.03  0.17  0.00     0.00      0.00  0.00
HELD: GPU-hours that jobs held, without profiling; FREE: GPU-hours that no job held
IDLE: from the end of a job to the end of its round, when its GPUs become free
PRICED: GPU-hours in rounds with prices; COST: what they cost at these prices, in the unit of the policy's objective
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	text.Reset()
	if err := s.WriteCSV(&text); err != nil {
		t.Fatal(err)
	}
	if first := "queue,group,jobs,gpu_seconds,gpu_seconds_share,owned_gpu_seconds,loaned_gpu_seconds,rented_gpu_seconds,profiling_gpu_seconds,idle_gpu_seconds,priced_gpu_seconds,paid,paid_share,rent,unused_gpu_seconds,lost_gpu_seconds\nblue,,1,1.5,0.0024937655860349127,1.5,0,0,1.5,0,0,0,0,0,0,0\n"; !strings.HasPrefix(text.String(), first) {
		t.Errorf("got %s, want it to begin with %s", text.String(), first)
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
}

// A statement has a column of sums if and only if some row has such a sum.
func TestWrite_columns(t *testing.T) {
	some := ledger.Of(1, time.Hour)
	for head, row := range map[string]ledger.Row{
		"JOBS": {Jobs: 1}, "OWNED": {Owned: some}, "LOANED": {Loaned: some}, "RENTED": {Rented: some}, "PROFILING": {Profiling: some},
		"IDLE": {Idle: some}, "PRICED": {Priced: some}, "COST": {Paid: 1}, "COST (%)": {PaidShare: 1}, "RENT": {Rent: 1}, "": {},
	} {
		var text strings.Builder
		if err := (&ledger.Statement{Rows: []ledger.Row{row}}).Write(&text); err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(text.String(), "\n")
		want := []string{"GPU-H", "GPU-H (%)"}
		switch head {
		case "":
		case "JOBS":
			want = append([]string{head}, want...)
		default:
			want = append(want, head)
		}
		if got := strings.Join(strings.Fields(first), " "); got != strings.Join(want, " ") {
			t.Errorf("columns %q, want %q", got, want)
		}
	}
}

// A job that was known before the run has its GPUs from the start of the run; one that was lost
// holds none; a job's exit in the last round counts to its end; and a run without a cluster at
// first counts GPUs from the first round.
func TestRecorder_restored(t *testing.T) {
	s := &story{t: t, cluster: nodes(t, node("own", "t4", cluster.Owned, "", 0))}
	s.rec = ledger.NewRecorder(time.Time{}, nil, s.book.Add)
	st := job.Status{Phase: job.Running, Placement: cluster.Placement{share("own", 3)}}
	st.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 3, GPUType: "t4"}
	s.event(0, scheduler.Restored{Spec: &job.Spec{ID: "a"}, Status: st})
	s.round(10, nil)
	s.event(20, scheduler.Exited{Job: "a", Outcome: scheduler.Lost})
	s.round(70, nil, run("a", "t4", share("own", 1)))
	s.event(100, scheduler.Exited{Job: "a", Outcome: scheduler.Failed})
	s.rec.Close()
	got := s.state("job")
	if used, idle := got.Total.Used.String(), got.Total.Idle.String(); used != "120" || idle != "30" { // 3·20 + 60
		t.Errorf("used %s, idle %s; want 120 and 30", used, idle)
	}
	if p := got.Pools[0]; p.There.String() != "510" { // 3·10 before the nodes were known, and 4·120
		t.Errorf("%+v, want 510 GPU-seconds there", p)
	}
}

// GPUs of an allocation without placement, of both types, count as owned; a profiling run has a GPU at
// least.
func TestRecorder_without_placement(t *testing.T) {
	s := &story{t: t, cluster: nodes(t, node("own", "t4", cluster.Owned, "", 0))}
	s.rec = ledger.NewRecorder(start, s.cluster, s.book.Add)
	s.submit(0, "a", "", "")
	s.event(0, scheduler.Reported{Report: job.Report{Job: "a", Profile: true, Interval: 3 * time.Second, Configuration: cluster.Configuration{GPUType: "v100"}}})
	mixed := run("a", "t4")
	mixed.Allocation.Configuration.GPUs, mixed.Allocation.Also = 2, cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}
	s.round(0, nil, mixed)
	s.event(60, scheduler.Exited{Job: "a", Outcome: scheduler.Done})
	s.rec.Close()
	rows := s.state("type", "tenure").Rows
	if len(rows) != 2 || rows[0].Used.String() != "120" || rows[1].Used.String() != "63" || rows[1].Owned != rows[1].Used {
		t.Errorf("got %+v, want 120 GPU-seconds of t4 and 63 of v100, all owned", rows)
	}
}

func TestGPUTime(t *testing.T) {
	sum := ledger.GPUTime{}
	for range 3 {
		sum = sum.Plus(ledger.Of(7, 1500*time.Millisecond+time.Nanosecond))
	}
	if got := sum.String(); got != "31.500000021" || math.Abs(sum.Hours()*3600-sum.Seconds()) > 1e-9 {
		t.Errorf("got %s, %v s, %v h", got, sum.Seconds(), sum.Hours())
	}
	if got := ledger.Of(1_000_000, 400*24*time.Hour).String(); got != "34560000000000" {
		t.Errorf("a million GPUs for 400 days: got %s", got)
	}
}

// A scheduler restarted 50 s after its last record counts its jobs as holding their GPUs meanwhile. A job that it
// no longer knows counts as holding none. If it knows no job, that time is recorded as unknown.
func TestRecorder_again(t *testing.T) {
	tell := func(restored bool) *ledger.Statement {
		own := nodes(t, node("own", "t4", cluster.Owned, "", 0))
		s := &story{t: t, cluster: own}
		s.rec = ledger.NewRecorder(start, own, s.book.Add)
		s.submit(0, "a", "", "")
		s.submit(0, "b", "", "")
		s.round(0, []policy.TypePrice{{Type: "t4", Price: 1}}, run("a", "t4", share("own", 2)), run("b", "t4", share("own", 1)))
		s.round(60, []policy.TypePrice{{Type: "t4", Price: 1}})
		s.event(100, scheduler.Reported{Report: job.Report{Job: "a"}})
		s.rec.Again(at(150), own)
		st := job.Status{Phase: job.Running, Placement: cluster.Placement{share("own", 2)}}
		st.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "t4"}
		if restored {
			s.event(150, scheduler.Restored{Spec: &job.Spec{ID: "a"}, Status: st})
		}
		s.round(210, nil)
		s.event(240, scheduler.Exited{Job: "a", Outcome: scheduler.Done})
		s.rec.Close()
		return s.state("job")
	}
	got := tell(true)
	used := map[string]string{}
	for _, r := range got.Rows {
		used[r.Of[0]] = r.Used.String()
	}
	if used["a"] != "540" || used["b"] != "100" { // 2 GPUs for 240 s and to the end of the round, at 270 s; 1 for 100 s
		t.Errorf("used %v, want 540 by a and 100 by b", used)
	}
	if p := got.Pools[0]; p.There.String() != "1080" || p.There != p.Free.Plus(got.Total.Used) { // 4 GPUs for 270 s
		t.Errorf("%+v, want 1080 GPU-seconds there, used or free", p)
	}
	if paid := got.Total.Paid; math.Abs(paid-5) > 1e-9 { // 3 GPUs for a round, and for 40 s of one
		t.Errorf("paid %v, want 5: no round was held while the scheduler was away", paid)
	}
	if got := tell(false); got.Total.Used.String() != "300" || got.Pools[0].There.String() != "760" { // 4 GPUs for 100 s and for 90 s
		t.Errorf("if none goes on: %v used and %v there, want 300 and 760", got.Total.Used, got.Pools[0].There)
	}
}

// A run that is booked in periods adds up to the run, in each use; a period that ends within a round has a part of it.
func TestRecorder_periods(t *testing.T) {
	own := nodes(t, node("a", "t4", cluster.Owned, "", 0))
	state := func(p ledger.Period) *ledger.Statement {
		s := &story{t: t, cluster: own}
		s.rec = ledger.NewRecorderOf(p, start, own, s.book.Add)
		s.submit(10, "j", "q", "u")
		s.round(60, nil, scheduler.Run{Job: "j", Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 3, GPUType: "t4"}}})
		s.round(120, nil)
		s.event(150, scheduler.Exited{Job: "j", Outcome: scheduler.Done})
		s.round(180, nil)
		s.round(240, nil)
		s.rec.Close()
		got, err := s.book.State([]string{"queue"})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	all := state(ledger.Period{})
	first, second := state(ledger.Period{From: at(0), To: at(100)}), state(ledger.Period{From: at(100), To: at(1000)})
	if got := first.Total.Used; got != ledger.Of(3, 40*time.Second) {
		t.Errorf("before the end of the period: %v GPU-seconds, want 3 GPUs for 40 s", got)
	}
	if got := first.Total.Used.Plus(second.Total.Used); got != all.Total.Used {
		t.Errorf("%v GPU-seconds in two periods, want %v", got, all.Total.Used)
	}
	if got := first.Pools[0].Free.Plus(second.Pools[0].Free); got != all.Pools[0].Free || first.Pools[0].Free == all.Pools[0].Free {
		t.Errorf("%v free GPU-seconds in two periods, want %v", got, all.Pools[0].Free)
	}
}

// Times of a period that are not covered are its missing parts, in order.
func TestPeriod_missing(t *testing.T) {
	p := func(from, to float64) ledger.Period { return ledger.Period{From: at(from), To: at(to)} }
	for _, c := range []struct{ covered, want []ledger.Period }{
		{nil, []ledger.Period{p(0, 100)}},
		{[]ledger.Period{p(-10, 200)}, nil},
		{[]ledger.Period{p(20, 30), p(60, 100)}, []ledger.Period{p(0, 20), p(30, 60)}},
		{[]ledger.Period{p(60, 120), p(-5, 30), p(20, 40)}, []ledger.Period{p(40, 60)}},
		{[]ledger.Period{p(200, 300)}, []ledger.Period{p(0, 100)}},
	} {
		if got := p(0, 100).Missing(c.covered); !cmp.Equal(got, c.want) {
			t.Errorf("%v: missing %v, want %v", c.covered, got, c.want)
		}
	}
}

// A GPU of a leaving node that a job still holds is the job's alone.
func TestRecorder_leaving_and_held(t *testing.T) {
	rented := node("rent", "a100", cluster.Rented, "a100-4", 3)
	s := &story{t: t, cluster: nodes(t, rented)}
	s.rec = ledger.NewRecorder(start, s.cluster, s.book.Add)
	s.submit(0, "a", "red", "ann")
	s.change(0, s.cluster, []cluster.Rental{{Offer: cluster.Offer{Group: "a100-4", Node: rented, Most: 2}, Leaving: 1}})
	s.round(0, nil, run("a", "a100", share("rent", 3)))
	s.event(100, scheduler.Exited{Job: "a", Outcome: scheduler.Done})
	s.rec.Close()
	got := s.state("queue").Pools
	if len(got) != 1 || got[0].There != seconds(400) || got[0].Jobs != seconds(300) || got[0].Leaving != seconds(100) || got[0].Free != seconds(0) {
		t.Errorf("%+v, want 300 s of the job and 100 s leaving", got)
	}
}

// A job on several nodes of a pool pays for the GPUs, cores and memory of all of them, and their rent.
func TestRecorder_several_nodes_of_a_pool(t *testing.T) {
	first, second := node("r1", "a100", cluster.Rented, "g", 3), node("r2", "a100", cluster.Rented, "g", 3)
	s := &story{t: t, cluster: nodes(t, first, second)}
	s.rec = ledger.NewRecorder(start, s.cluster, s.book.Add)
	s.submit(0, "a", "red", "ann")
	s.round(0, []policy.TypePrice{{Type: "a100", Price: 5, CPU: 0.1, Memory: 0.01}}, run("a", "a100", share("r1", 4), share("r2", 3)))
	s.event(60, scheduler.Exited{Job: "a", Outcome: scheduler.Done})
	s.rec.Close()
	got := s.state("queue").Total
	if want := 7*5 + 4*0.1 + 6*0.01; got.Used != seconds(420) || math.Abs(got.Paid-want) > 1e-9 || math.Abs(got.Rent-7*3/60.) > 1e-9 {
		t.Errorf("used %v, paid %v, rent %v; want 420, %v and 0.35", got.Used, got.Paid, got.Rent, want)
	}
}

// Measured idle time of GPUs adds up per job, and is dropped for jobs that the book does not have.
func TestBook_AddUnused(t *testing.T) {
	s := day(t)
	s.book.AddUnused("a", seconds(30))
	s.book.AddUnused("a", seconds(12))
	s.book.AddUnused("nobody", seconds(5))
	got := s.state("job")
	for _, r := range got.Rows {
		if want := map[string]ledger.GPUTime{"a": seconds(42)}[r.Of[0]]; r.Unused != want {
			t.Errorf("job %s left %v unused, want %v", r.Of[0], r.Unused, want)
		}
	}
	if got.Total.Unused != seconds(42) {
		t.Errorf("%v unused in all, want 42", got.Total.Unused)
	}
}

// If all jobs have ended when the scheduler stops, free GPUs are booked to the end of its last round, but not beyond a
// restart before that; a scheduler that had no job books nothing after its last record.
func TestRecorder_again_without_jobs(t *testing.T) {
	for name, c := range map[string]struct {
		end, again float64 // the job's end, and the restart; the last record is at 100 s, in the round from 60 to 120 s
		there      ledger.GPUTime
	}{
		"a job ended in the last round": {80, 150, seconds(4 * 120)},
		"it starts within the round":    {80, 110, seconds(4 * 100)},
		"no job in the last round":      {50, 150, seconds(4 * 100)},
	} {
		own := nodes(t, node("own", "t4", cluster.Owned, "", 0))
		s := &story{t: t, cluster: own}
		s.rec = ledger.NewRecorder(start, own, s.book.Add)
		s.submit(0, "a", "", "")
		s.round(0, nil, run("a", "t4", share("own", 2)))
		if c.end < 60 {
			s.event(c.end, scheduler.Exited{Job: "a", Outcome: scheduler.Done})
		}
		s.round(60, nil)
		if c.end > 60 {
			s.event(c.end, scheduler.Exited{Job: "a", Outcome: scheduler.Done})
		}
		s.event(100, scheduler.NodesChanged{Cluster: own})
		s.rec.Again(at(c.again), own)
		s.rec.Close()
		if p := s.state("job").Pools[0]; p.There != c.there || p.There != p.Free.Plus(p.Jobs) {
			t.Errorf("%s: %v there, %v free, %v held; want %v there", name, p.There, p.Free, p.Jobs, c.there)
		}
	}
}
