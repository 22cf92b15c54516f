package jobadapter

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/inventory"
)

// podOf returns a pod of a Job as the Job controller makes it.
func podOf(t testing.TB, o *unstructured.Unstructured) *corev1.Pod {
	t.Helper()
	template, err := template(child(o.Object, "spec", "template")).spec()
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
}

func mainOf(o map[string]any) map[string]any {
	c, _ := child(o, "spec", "template", "spec")["containers"].([]any)[0].(map[string]any)
	return c
}

func list(cpu, memory string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for name, q := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
		if q != "" {
			l[name] = resource.MustParse(q)
		}
	}
	return l
}

// What a running pod asks for follows what is granted, as it would at the next start; its other
// containers, of 0.5 CPUs and 512 MiB together, keep theirs.
func TestFit(t *testing.T) {
	restart := func(name string) func(map[string]any) {
		return func(o map[string]any) {
			mainOf(o)["resizePolicy"] = []any{map[string]any{"resourceName": name, "restartPolicy": "RestartContainer"}}
		}
	}
	set := func(requests, limits map[string]any) func(map[string]any) {
		return func(o map[string]any) {
			requests["nvidia.com/gpu"], limits["nvidia.com/gpu"] = "8", "8"
			mainOf(o)["resources"] = map[string]any{"requests": requests, "limits": limits}
		}
	}
	const half = 512 << 20
	for _, c := range []struct {
		name             string
		edit             func(o map[string]any)
		first, then      Grant
		requests, limits corev1.ResourceList // nil: it is left alone
		shrinks          bool
	}{
		{"as it was", nil, Grant{CPUs: 20}, Grant{CPUs: 20}, nil, nil, false},
		{"fewer CPUs", nil, Grant{CPUs: 20}, Grant{CPUs: 10}, list("9500m", "200Gi"), list("", "200Gi"), true},
		{"more CPUs", nil, Grant{CPUs: 20}, Grant{CPUs: 40}, list("39500m", "200Gi"), list("", "200Gi"), false},
		{"less memory, whose limit is the request", nil, Grant{}, Grant{Memory: 100<<30 + half}, list("30", "100Gi"), list("", "100Gi"), true},
		{"fewer CPUs, more memory", nil, Grant{}, Grant{CPUs: 10, Memory: 300<<30 + half}, list("9500m", "300Gi"), list("", "300Gi"), false},
		{"none granted", nil, Grant{CPUs: 20, Memory: 100 << 30}, Grant{}, nil, nil, false},
		{"CPUs granted, and no memory", nil, Grant{CPUs: 20, Memory: 100<<30 + half}, Grant{CPUs: 10}, list("9500m", "100Gi"), list("", "100Gi"), true},
		{"above its limit", set(map[string]any{"cpu": "10"}, map[string]any{"cpu": "15"}), Grant{}, Grant{CPUs: 20.5}, list("20", ""), list("20", ""), false},
		{"below its limit again", set(map[string]any{"cpu": "10"}, map[string]any{"cpu": "15"}), Grant{CPUs: 20.5}, Grant{CPUs: 8.5}, list("8", ""), list("15", ""), true},
		{"it would start anew", restart("cpu"), Grant{CPUs: 20}, Grant{CPUs: 10}, nil, nil, false},
		{"it would for memory only", restart("memory"), Grant{CPUs: 20}, Grant{CPUs: 10}, list("9500m", "200Gi"), list("", "200Gi"), true},
		{"it is for Kueue", func(o map[string]any) { grow(o, "metadata", "labels")[kueueQueue] = "q" }, Grant{CPUs: 20}, Grant{CPUs: 10}, nil, nil, false},
	} {
		o := object(t, "job.yaml", func(o map[string]any) {
			if c.edit != nil {
				c.edit(o)
			}
		})
		k := kindOf(t, o)
		c.first.Generation, c.first.Workers, c.then.Workers = 1, 4, 4
		if err := k.Start(o, &c.first); err != nil {
			t.Fatal(err)
		}
		p := podOf(t, o)
		before := p.DeepCopy()
		got, err := k.Fit(o, []*corev1.Pod{p}, &c.then)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, p); diff != "" {
			t.Errorf("%s: the pod was changed: %s", c.name, diff)
		}
		if c.requests == nil {
			if len(got) > 0 {
				t.Errorf("%s: %v, want it left alone", c.name, got[0].ToBe.Spec.Containers[0].Resources)
			}
			continue
		}
		if len(got) != 1 || got[0].Is != p {
			t.Errorf("%s: %d changes, want one", c.name, len(got))
			continue
		}
		r := &got[0].ToBe.Spec.Containers[0].Resources
		gpu := resource.MustParse("8")
		c.requests["nvidia.com/gpu"], c.limits["nvidia.com/gpu"] = gpu, gpu
		if !equalLists(r.Requests, c.requests) || !equalLists(r.Limits, c.limits) || got[0].Shrinks("nvidia.com/gpu") != c.shrinks {
			t.Errorf("%s: %+v, shrinks %v, want requests %v, limits %v, shrinks %v", c.name, r, got[0].Shrinks("nvidia.com/gpu"), c.requests, c.limits, c.shrinks)
		}
	}
}

func equalLists(a, b corev1.ResourceList) bool {
	for name, q := range a {
		if p, ok := b[name]; !ok || p.Cmp(q) != 0 {
			return false
		}
	}
	return len(a) == len(b)
}

// A pod whose class of service would be another keeps what it asks for, as the API server wants
// it: here it would get as much as its limits.
func TestFit_keeps_the_class(t *testing.T) {
	o := object(t, "job.yaml", func(o map[string]any) {
		delete(child(o, "spec", "template", "spec"), "initContainers")
		mainOf(o)["resources"] = map[string]any{
			"requests": map[string]any{"cpu": "10", "memory": "1Gi", "nvidia.com/gpu": "8"}, "limits": map[string]any{"cpu": "15", "memory": "1Gi", "nvidia.com/gpu": "8"},
		}
	})
	k := kindOf(t, o)
	if err := k.Start(o, &Grant{Generation: 1, Workers: 4}); err != nil {
		t.Fatal(err)
	}
	p := podOf(t, o)
	if got := inventory.QoS(&p.Spec); got != corev1.PodQOSBurstable {
		t.Fatalf("class %s, want Burstable", got)
	}
	for cpus, want := range map[float64]int{14: 1, 15: 0, 16: 0} {
		if got, err := k.Fit(o, []*corev1.Pod{p}, &Grant{Workers: 4, CPUs: cpus}); err != nil || len(got) != want {
			t.Errorf("%g CPUs: %d changes, %v, want %d", cpus, len(got), err, want)
		}
	}
}

// Jobs whose resources are as they ask are left alone.
func TestFit_of_other_kinds(t *testing.T) {
	for _, file := range []string{"jobset.yaml", "trainjob.yaml", "rayjob.yaml"} {
		o := object(t, file)
		p := podOf(t, object(t, "job.yaml"))
		if got, err := kindOf(t, o).Fit(o, []*corev1.Pod{p}, &Grant{Workers: 4, CPUs: 3}); len(got) > 0 || err != nil {
			t.Errorf("%s: %d changes, %v, want none", file, len(got), err)
		}
	}
}
