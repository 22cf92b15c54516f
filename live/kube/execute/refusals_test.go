package execute

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/job"
)

// eventual is an API server that takes a second to list events, whatever is asked of them.
type eventual struct {
	client.Reader
	mu    sync.Mutex
	lists []string // what was asked
	all   []corev1.Event
	err   error
}

func (e *eventual) List(_ context.Context, to client.ObjectList, opts ...client.ListOption) error {
	time.Sleep(time.Second)
	e.mu.Lock()
	defer e.mu.Unlock()
	o := new(client.ListOptions).ApplyOptions(opts)
	e.lists = append(e.lists, o.Namespace+" "+o.FieldSelector.String())
	to.(*corev1.EventList).Items = append([]corev1.Event(nil), e.all...) //nolint:forcetypeassert // only these are listed
	return e.err
}

// missing returns a planner of so many jobs that run without pods.
func missing(api *eventual, n int) (*Planner, map[job.ID]string) {
	refused := map[job.ID]string{}
	o := jobstate.DefaultOptions()
	o.Log = slog.New(slog.DiscardHandler)
	table := jobstate.NewTable(driver.NewQueue(), nil)
	w := &Writer{Options: &o, Direct: api, Mu: &sync.Mutex{}, Refused: func(e *jobstate.Job, why string) { refused[e.ID] = why }}
	for i := range n {
		e := &jobstate.Job{Entry: driver.Entry{ID: job.ID(fmt.Sprintf("j%d", i))}, Parsed: &jobadapter.Job{UID: fmt.Sprintf("j%d", i), Namespace: "a", Kind: "Job"}, Times: jobstate.Times{CompleteAt: time.Now()}}
		table.ByID[e.ID], table.Order = e, append(table.Order, e)
	}
	return NewPlanner(w, table), refused
}

// ask asks why pods of all jobs are missing, at the same time.
func ask(t *testing.T, w *Planner) {
	t.Helper()
	var all sync.WaitGroup
	for _, e := range w.table.Order {
		all.Go(func() {
			if err := w.asking(e).Do(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// said is an event that says that a pod of a job could not be created.
func said(uid, why string) corev1.Event {
	return corev1.Event{InvolvedObject: corev1.ObjectReference{UID: types.UID(uid)}, Reason: "FailedCreate", Message: why, LastTimestamp: metav1.NewTime(time.Now().Truncate(time.Second))}
}

// The events of a namespace are read once for all jobs that wait for pods, and at most a tenth of the time,
// because each read costs the API server a full read from etcd. Each job gets the events of its own pods.
func TestAsking_reads_events_of_all_jobs_at_once(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &eventual{}
		w, refused := missing(api, 500)
		time.Sleep(2 * time.Second)
		api.all = []corev1.Event{said("j7", "quota"), said("stranger", "quota")}
		ask(t, w)
		if fmt.Sprint(api.lists) != "[a reason=FailedCreate]" || len(refused) != 1 || refused["j7"] != "quota" {
			t.Fatalf("%d lists %v, refused %v, want one list of refusals, and j7", len(api.lists), api.lists, refused)
		}
		time.Sleep(7 * time.Second)
		if ask(t, w); len(api.lists) != 1 {
			t.Errorf("%d lists within 8 s of one that took one, want no other", len(api.lists))
		}
		if asked := w.table.Order[0].AskedAt; time.Since(asked) < 8*time.Second {
			t.Errorf("asked %v ago, want as long ago as the events were read", time.Since(asked))
		}
		api.all = append(api.all, said("j8", "a webhook"))
		time.Sleep(3 * time.Second)
		if ask(t, w); len(api.lists) != 2 || refused["j8"] != "a webhook" {
			t.Errorf("%d lists, refused %v, want j8 after a second one", len(api.lists), refused)
		}
	})
}

// Events that cannot be read say nothing, and are not read again at once for each job.
func TestAsking_an_API_server_that_does_not_answer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &eventual{err: context.DeadlineExceeded, all: []corev1.Event{said("j1", "quota")}}
		w, refused := missing(api, 100)
		if ask(t, w); len(api.lists) != 1 || len(refused) > 0 {
			t.Errorf("%d lists, refused %v, want one, and none", len(api.lists), refused)
		}
	})
}
