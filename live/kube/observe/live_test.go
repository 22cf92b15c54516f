package observe

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
)

func versioned(all ...string) (pods []*corev1.Pod) {
	for _, text := range all {
		var name, version string
		if _, err := fmt.Sscanf(text, "%1s%s", &name, &version); err != nil {
			panic(err)
		}
		pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: version}})
	}
	return pods
}

// apiServer is one that has these pods at a version.
type apiServer struct {
	client.Reader
	pods  []*corev1.Pod
	reads []bool // whether all were asked for
}

func (a *apiServer) List(_ context.Context, to client.ObjectList, opts ...client.ListOption) error {
	o := new(client.ListOptions).ApplyOptions(opts)
	a.reads = append(a.reads, o.LabelSelector == nil)
	list := to.(*corev1.PodList) //nolint:forcetypeassert // only these are listed
	list.ResourceVersion = "50"
	for _, p := range a.pods {
		list.Items = append(list.Items, *p)
	}
	return nil
}

type shows struct {
	client.Client
	pods []*corev1.Pod
}

func (s *shows) List(_ context.Context, to client.ObjectList, _ ...client.ListOption) error {
	list := to.(*corev1.PodList) //nolint:forcetypeassert // only these are listed
	for _, p := range s.pods {
		list.Items = append(list.Items, *p)
	}
	return nil
}

// Of what is read only that is kept which the watch does not show as new: the memory of the rest would be taken twice.
func TestReadPods_keeps_what_the_watch_lacks(t *testing.T) {
	ob := late(&apiServer{pods: versioned("a7", "b8", "c9")})
	ob.client = &shows{pods: versioned("a7", "b6")}
	if err := ob.ReadPods(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(ob.live.pods) != 2 || ob.live.pods["b"] == nil || ob.live.pods["c"] == nil || len(ob.live.all) != 3 {
		t.Errorf("kept %v of %v, want b and c of three", ob.live.pods, ob.live.all)
	}
	var got []string
	for _, p := range ob.live.newest(versioned("a7", "b6"), func(*corev1.Pod) bool { return true }) {
		got = append(got, p.Name+p.ResourceVersion)
	}
	if slices.Sort(got); fmt.Sprint(got) != "[a7 b8 c9]" {
		t.Errorf("%v, want each as new as it was read", got)
	}
}

// late returns an Observer of a queue on an API server.
func late(a *apiServer) *Observer {
	o := jobstate.DefaultOptions()
	o.Queue = &v1alpha1.Queue{}
	o.Queue.Name = "train"
	return New(&o, &shows{}, a, nil)
}

// Of each pod the newer version counts; what was gone when all were read is gone, unless the watch shows
// something newer of it. Pods of which only some were read tell nothing of the others.
func TestNewest(t *testing.T) {
	for name, c := range map[string]struct {
		read, shown []string
		some        bool
		want        string
		kept        bool
	}{
		"the watch has yet to show it":       {[]string{"a7"}, nil, false, "[a7]", true},
		"the watch shows it older":           {[]string{"a7"}, []string{"a6"}, false, "[a7]", true},
		"the watch shows it":                 {[]string{"a7"}, []string{"a7"}, false, "[a7]", false},
		"the watch shows it newer":           {[]string{"a7"}, []string{"a60"}, false, "[a60]", false},
		"it was gone":                        {[]string{"a7"}, []string{"a7", "b6"}, false, "[a7]", true},
		"it came after":                      {[]string{"a7"}, []string{"a7", "b60"}, false, "[a7 b60]", false},
		"others were not read":               {[]string{"a7"}, []string{"a7", "b6"}, true, "[a7 b6]", false},
		"one of no matter":                   {[]string{"x7"}, []string{"b60"}, false, "[b60]", false},
		"nothing was read, and one is shown": {nil, []string{"a7"}, true, "[a7]", false},
	} {
		ob := late(&apiServer{pods: versioned(c.read...)})
		err := ob.ReadPods(t.Context())
		if c.some {
			err = ob.readPods(t.Context(), Prompt, ob.byQueue())
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range ob.live.newest(versioned(c.shown...), func(p *corev1.Pod) bool { return p.Name != "x" }) {
			got = append(got, p.Name+p.ResourceVersion)
		}
		slices.Sort(got)
		if fmt.Sprint(got) != c.want || (ob.live.pods != nil) != c.kept {
			t.Errorf("%s: %v, kept %v, want %s and %v", name, got, ob.live.pods != nil, c.want, c.kept)
		}
	}
}

// While the watch is late pods are read twice a second, all of them as long as a new leader's watch has not caught up. What
// does not come though the watch shows all there is is asked for seldom.
func TestHurry(t *testing.T) {
	for name, c := range map[string]struct {
		leads, overdue bool
		shown          []string // by the watch
		want           int      // reads in a minute
		all            bool
	}{
		"nothing is overdue":             {false, false, nil, 0, false},
		"the watch is late":              {false, true, nil, 120, false},
		"the watch of a new leader is":   {true, false, nil, 120, true},
		"the watch shows all there is":   {false, true, []string{"a7"}, 7, false},
		"the watch of a new leader does": {true, false, []string{"a7"}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := &apiServer{pods: versioned("a7")}
				ob := late(api)
				if c.leads {
					if err := ob.ReadPods(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				for range 600 {
					ob.live.newest(versioned(c.shown...), func(*corev1.Pod) bool { return true })
					if err := ob.Hurry(t.Context(), c.overdue); err != nil {
						t.Fatal(err)
					}
					time.Sleep(100 * time.Millisecond)
				}
				if len(api.reads) != c.want || slices.Contains(api.reads, !c.all) {
					t.Errorf("%d reads, %v, want %d", len(api.reads), api.reads, c.want)
				}
			})
		})
	}
}
