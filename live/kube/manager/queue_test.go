package manager

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/live/kube/planstore"
	"github.com/oxgang/oxgang/live/monitor"
)

type fakeManager struct {
	manager.Manager
	twin *kubetest.Cluster
}

func (m fakeManager) GetClient() client.Client                     { return m.twin.Client() }
func (m fakeManager) GetAPIReader() client.Reader                  { return m.twin.Direct() }
func (m fakeManager) GetEventRecorder(string) events.EventRecorder { return &events.FakeRecorder{} }

// said returns the value of a metric of queue train that has no other label, and whether there is one.
func said(t *testing.T, r prometheus.Gatherer, name string) (float64, bool) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if l := m.GetLabel(); f.GetName() == name && len(l) == 1 && l[0].GetValue() == "train" {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue(), true
			}
		}
	}
	return 0, false
}

// Queues that are served from the same moment on have journals that can be told apart.
func TestQueue_journal(t *testing.T) {
	dir := t.TempDir()
	l := &leader{o: Options{Config: Config{Journals: dir}}}
	for _, name := range []string{"train", "other"} {
		q := &v1alpha1.Queue{}
		q.Name = name
		if got, want := (&queueController{l: l, q: q}).driverOptions().Journals, filepath.Join(dir, name); got != want {
			t.Errorf("journals of %s in %s, want %s", name, got, want)
		}
	}
	l.o.Config.Journals = ""
	if got := (&queueController{l: l, q: &v1alpha1.Queue{}}).driverOptions().Journals; got != "" {
		t.Errorf("journals in %q, want none", got)
	}
}

// A queue is served until another leader takes it over. What it then says of itself can be read
// until it is no longer wanted: that is all there is to see of a leader that was replaced.
func TestLeader_that_is_replaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		twin, r := kubetest.New(), prometheus.NewRegistry()
		twin.AddNode("n0", 4, "A100")
		twin.Submit("train", &kubetest.Ask{Name: "a", Workers: 1, GPUs: 2})
		m, err := monitor.New(r, monitor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		l := &leader{
			o: Options{Identity: "first"}, log: slog.New(slog.DiscardHandler), manager: fakeManager{twin: twin}, metrics: m,
			known: []schema.GroupVersionKind{jobadapter.Kinds[0].GVK()}, running: map[string]*running{},
		}
		q := &v1alpha1.Queue{}
		q.Name, q.Spec.Mode, q.Spec.Policy.Name = "train", v1alpha1.Resize, "fifo"
		q.Spec.Namespaces = []v1alpha1.NamespaceShare{{Name: kubetest.Namespace}}
		common := &v1alpha1.ClusterPolicy{}
		common.Spec.GPUResource, common.Spec.GPUTypeLabels = string(kubetest.GPU), []string{kubetest.TypeLabel}
		if err := l.start(t.Context(), q, common, "as it is"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(90 * time.Second)
		synctest.Wait()
		want := func(name string, least, most float64) {
			t.Helper()
			if v, there := said(t, r, name); !there || v < least || v > most {
				t.Errorf("%s: %v, there: %v, want %v to %v", name, v, there, least, most)
			}
		}
		want("oxgang_leader", 1, 1)
		want("oxgang_rounds_total", 1, 2)
		want("oxgang_writes_fenced_total", 0, 0)
		want("oxgang_explain_cache_timestamp_seconds", 1, 1e18)

		d := &queueController{l: l, q: q, common: common}
		o := d.backendOptions(driver.New(driver.Options{}))
		o.Identity = "second"
		if _, err := kube.Open(t.Context(), twin.Client(), twin.Direct(), o); err != nil {
			t.Fatal(err)
		}
		twin.Submit("train", &kubetest.Ask{Name: "b", Workers: 1, GPUs: 2})
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if err := l.start(t.Context(), q, common, "as it is"); !errors.Is(err, planstore.ErrFenced) {
			t.Errorf("%v, want ErrFenced", err)
		}
		want("oxgang_leader", 0, 0)
		want("oxgang_rounds_total", 1, 4)
		want("oxgang_writes_fenced_total", 1, 1)
		l.stopAll()
		if v, there := said(t, r, "oxgang_leader"); there {
			t.Errorf("of a queue that is not served: %v, want nothing", v)
		}
	})
}
