package manager

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// mapped is a manager that only maps kinds.
type mapped struct {
	manager.Manager
	mapper meta.RESTMapper
}

func (m *mapped) GetRESTMapper() meta.RESTMapper { return m.mapper }

// discovering returns a leader of an API server that says that it serves kinds of a group in versions,
// and the number of requests that this took.
func discovering(t *testing.T, group string, kinds map[string][]string) (*leader, *int) {
	t.Helper()
	asked := new(int)
	groups := metav1.APIGroup{Name: group}
	for v := range kinds {
		groups.Versions = append(groups.Versions, metav1.GroupVersionForDiscovery{GroupVersion: group + "/" + v, Version: v})
	}
	answers := map[string]any{"/api": metav1.APIVersions{}, "/apis": metav1.APIGroupList{Groups: []metav1.APIGroup{groups}}, "/apis/" + group: groups}
	for v, all := range kinds {
		list := metav1.APIResourceList{GroupVersion: group + "/" + v}
		for _, k := range all {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: strings.ToLower(k) + "s", Kind: k})
		}
		answers["/apis/"+group+"/"+v] = list
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		answer, there := answers[r.URL.Path]
		if !there {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // who asks has gone
	}))
	t.Cleanup(s.Close)
	mapper, err := apiutil.NewDynamicRESTMapper(&rest.Config{Host: s.URL}, s.Client())
	if err != nil {
		t.Fatal(err)
	}
	return &leader{log: slog.New(slog.DiscardHandler), manager: &mapped{mapper: mapper}}, asked
}

// In a cluster that cannot suspend new jobs, modes that start jobs are refused, with the reason and what to do.
func TestUnsupported(t *testing.T) {
	const group = "admissionregistration.k8s.io"
	old := map[string][]string{"v1": {"ValidatingAdmissionPolicy"}, "v1beta1": {"MutatingAdmissionPolicy"}} // as 1.34 serves them
	for name, c := range map[string]struct {
		kinds map[string][]string
		mode  v1alpha1.Mode
		want  string // empty: it is served
	}{
		"1.36":              {map[string][]string{"v1": {"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"}}, v1alpha1.Resize, ""},
		"1.34, Resize":      {old, v1alpha1.Resize, "mode Resize needs Kubernetes 1.36 or later: this API server does not serve admissionregistration.k8s.io/v1 MutatingAdmissionPolicy"},
		"1.34, Admit":       {old, v1alpha1.Admit, "use mode Observe or Recommend"},
		"1.34, Recommend":   {old, v1alpha1.Recommend, ""},
		"1.34, Observe":     {old, v1alpha1.Observe, ""},
		"1.32, none at all": {map[string][]string{"v1": {"ValidatingAdmissionPolicy"}}, v1alpha1.Resize, "mode Resize needs Kubernetes 1.36"},
	} {
		t.Run(name, func(t *testing.T) {
			l, asked := discovering(t, group, c.kinds)
			got := l.unsupported(c.mode)
			if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
			before := *asked
			if l.unsupported(c.mode); *asked != before {
				t.Errorf("it was asked again %d times, want 0", *asked-before)
			}
		})
	}
}

// An API server that does not answer stops no queue.
func TestUnsupported_without_an_answer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "away", http.StatusServiceUnavailable) }))
	t.Cleanup(s.Close)
	mapper, err := apiutil.NewDynamicRESTMapper(&rest.Config{Host: s.URL}, s.Client())
	if err != nil {
		t.Fatal(err)
	}
	l := &leader{log: slog.New(slog.DiscardHandler), manager: &mapped{mapper: mapper}}
	if why := l.unsupported(v1alpha1.Resize); why != "" {
		t.Errorf("refused: %s", why)
	}
}

// Kueue is there in whatever version it serves Workloads.
func TestServes_Kueue(t *testing.T) {
	for _, c := range []struct {
		kinds map[string][]string
		want  bool
	}{{map[string][]string{"v1beta2": {"Workload"}}, true}, {map[string][]string{"v1beta1": {"ClusterQueue"}}, false}} {
		if l, _ := discovering(t, workloads.Group, c.kinds); l.serves(workloads) != c.want {
			t.Errorf("%v: want %v", c.kinds, c.want)
		}
	}
	if l, _ := discovering(t, "other.example.com", map[string][]string{"v1": {"Workload"}}); l.serves(workloads) {
		t.Error("Workloads of others are taken for Kueue's")
	}
}
