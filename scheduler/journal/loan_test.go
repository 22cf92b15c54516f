package journal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// onLoan has an owned node and four that are lent, in two groups.
func onLoan(t testing.TB) *cluster.Cluster {
	t.Helper()
	nodes := []cluster.Node{{ID: "o", GPUType: "v100", Capacity: cluster.Resources{GPUs: 2}}}
	for i := range 4 {
		nodes = append(nodes, cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("l%d", i)), GPUType: "t4", Capacity: cluster.Resources{GPUs: 2 + 2*(i/2)},
			Tenure: cluster.Loaned, Group: cluster.Group(fmt.Sprintf("g%d", i/2)),
		})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lending returns the journal of a world that lends nodes, of which it needs more from
// minute 10 on and fewer from minute 20 on.
func lending(t testing.TB) string {
	t.Helper()
	o := sim.DefaultOptions()
	o.Lender.Headroom = 0
	o.Lender.Busy = func(at time.Duration) float64 { return []float64{0, 0.5, 0.1}[min(2, at/(10*time.Minute))] }
	var arrivals []workload.Arrival
	for i := range 5 {
		spec := job.Spec{ID: job.ID(fmt.Sprintf("j%d", i)), GPUs: 2, Target: 1500}
		arrivals = append(arrivals, workload.Arrival{At: time.Duration(i) * time.Minute, Spec: spec})
	}
	w, err := sim.New(onLoan(t), nil, arrivals, o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := recordOn(t, onLoan(t), w, schedulertest.DriveRenting)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestReplay_of_nodes_on_loan_gives_the_same_journal_byte_for_byte(t *testing.T) {
	first := lending(t)
	for _, part := range []string{
		`{"provision":"g0","nodes":2}`, `{"return":["l`, `"loans":[{"node":{"id":"",`, `"nodes":null,"loans"`, `"reclaim":1,"by":"2000-01-01T00:15:00Z"`,
		`"lost","the owner of l`,
	} {
		if !strings.Contains(first, part) {
			t.Errorf("the journal has no %s", part)
		}
	}
	replaysAlike(t, onLoan(t), first, schedulertest.DriveRenting)
}

func TestReplay_of_nodes_on_loan_keeps_the_contract(t *testing.T) {
	text := lending(t)
	schedulertest.RunRepeatable(t, func(t testing.TB) scheduler.Backend { return replay(t, text) }, schedulertest.DriveRenting(onLoan(t)))
}

func TestLoans_survive(t *testing.T) {
	c := onLoan(t)
	there := c.Without(func(id cluster.NodeID) bool { return id == "l3" })
	all := c.Loans()
	all[0].Lent, all[0].Spare, all[0].Load = 2, 1, 0.25
	all[1].Lent, all[1].Reclaim, all[1].By = 1, 1, schedulertest.Epoch.Add(5*time.Minute)
	all[1].Expected, all[1].Every = []int{0, 2}, time.Hour
	want := []scheduler.NodesChanged{{Cluster: there, Loans: all}, {Cluster: there, Loans: all[:1]}, {Cluster: c, Loans: all}}
	var out strings.Builder
	w := journal.NewWriter(&out, journal.Header{Start: schedulertest.Epoch, Round: time.Minute, Cluster: c})
	for _, ev := range want {
		w.Event(schedulertest.Epoch, ev)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := journal.NewReader(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	var clusters []*cluster.Cluster
	for i, ev := range want {
		rec, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		got := rec.Event.(scheduler.NodesChanged)
		if diff := cmp.Diff(ev.Loans, got.Loans); diff != "" {
			t.Errorf("event %d: loans (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff(ev.Cluster.Nodes(), got.Cluster.Nodes()); diff != "" {
			t.Errorf("event %d: nodes (-want +got):\n%s", i, diff)
		}
		clusters = append(clusters, got.Cluster)
	}
	if clusters[0] != clusters[1] {
		t.Error("the same nodes are read as another cluster")
	}
}

func TestReader_refuses_loans_that_cannot_be(t *testing.T) {
	header, _, _ := strings.Cut(journal.Unsealed(lending(t)), "\n")
	loan := func(rest string) string {
		return `{"t":1,"nodes":[],"loans":[{"node":{"id":"","type":"t4","gpus":4,"group":"g"},"nodes":4` + rest + `}]}`
	}
	for line, want := range map[string]string{
		`{"t":1,"nodes":null,"loans":[]}`: `want nodes, or null if an earlier line lists them`,
		loan(`,"lent":-1`):                `group "g": -1 nodes, want 0 to`,
		loan(`,"expected":[1,-2]`):        `group "g": -2 nodes, want 0 to`,
		loan(`,"load":1.5`):               `group "g": a load of 1.5, want 0 to 1`,
		loan(`,"lend":1`):                 `unknown field "lend"`,
	} {
		r, err := journal.NewReader(strings.NewReader(header + "\n" + line + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", line, err, want)
		}
	}
}
