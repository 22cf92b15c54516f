package kube

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/live/kube/planstore"
	"github.com/oxgang/oxgang/model/cluster"
)

// Open takes over a queue: it begins the next epoch, and waits until the watches behind c show everything that existed
// then. The scheduler receives an event Restored for each job in the Plan. direct must read from the API server, not
// from watches.
func Open(ctx context.Context, c client.Client, direct client.Reader, o jobstate.Options) (*Backend, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("kube: %w", err)
	}
	w := assemble(c, direct, &o)
	var err error
	if w.table.Plan, err = w.store.TakeOver(ctx); err != nil {
		return nil, fmt.Errorf("kube: queue %s: %w", o.Queue.Name, err)
	}
	w.table.Past = jobstate.PastOf(w.table.Plan)
	if err := w.observer.CatchUp(ctx); err != nil {
		return nil, fmt.Errorf("kube: queue %s: %w", o.Queue.Name, err)
	}
	s, err := w.observer.Observe(ctx)
	if err != nil {
		return nil, fmt.Errorf("kube: queue %s: %w", o.Queue.Name, err)
	}
	w.Lock()
	defer w.Unlock()
	if err := w.enterNodes(s); err != nil {
		return nil, fmt.Errorf("kube: queue %s: %w", o.Queue.Name, err)
	}
	w.reconcile(s)
	w.dispossess(w.extent.cluster) // nodes may have lost GPUs without a leader
	w.Events.Begin()
	return w, nil
}

var newQueue = driver.NewQueue

func assemble(c client.Client, direct client.Reader, o *jobstate.Options) *Backend {
	w := &Backend{
		jobEvents: &jobEvents{o: o},
		publisher: publisher{published: map[string]string{}, versions: map[string]uint64{}},
	}
	w.table = jobstate.NewTable(newQueue(), w.forget)
	w.Feed, w.table.Hold = w.table.Feed, w.hold
	w.Agents = driver.NewAgents(w.Feed, o.Report, w.agent, nil)
	w.writer = &execute.Writer{Options: w.o, Client: c, Direct: direct, Mu: &w.Mutex, Refused: w.refused, GivenUp: w.lose, Unseen: map[types.UID]uint64{}}
	w.store = planstore.NewStore(w.o, c, direct)
	w.observer = observe.New(w.o, c, direct, w.known)
	w.publisher.o, w.publisher.client, w.publisher.mu = o, c, &w.Mutex
	w.publisher.table, w.publisher.refuses, w.publisher.full = w.table, w.observer.Refuses, w.observer.Full
	w.nodes = &execute.Nodes{Options: w.o, Client: c, Mu: &w.Mutex, Writer: w.writer, Store: w.store, Table: w.table, IsOurs: w.observer.IsOurs, Lose: w.lose, Loans: execute.NewLoans()}
	return w
}

func (w *Backend) enterNodes(s *observe.Observation) (err error) {
	all := slices.DeleteFunc(slices.Clone(s.Nodes), func(n cluster.Node) bool { return n.Tenure != cluster.Owned })
	if w.extent.cluster, err = cluster.New(all); err != nil {
		return err
	}
	for i := range s.Lender.Servers {
		all = append(all, s.Lender.Servers[i].Node)
	}
	if w.extent.whole, err = cluster.New(append(all, execute.Offered(w.nodes.Groups())...)); err != nil {
		return err
	}
	for _, t := range w.extent.whole.Types() {
		w.extent.types = append(w.extent.types, t.Type)
	}
	return nil
}
