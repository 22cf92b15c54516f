package jobstate

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// text is a Job as the API server shows it: %d is its number.
const text = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j%[1]d","namespace":"default","uid":"9e3f1c52-0f63-4c0e-a1b5-%012[1]d","resourceVersion":"%[1]d","generation":2,
"creationTimestamp":"2026-11-28T02:06:10Z","labels":{"oxgang.dev/queue":"train"},"annotations":{"batch.kubernetes.io/job-tracking":"","oxgang.dev/epoch":"3","kubectl.kubernetes.io/last-applied-configuration":"{\"spec\":{}}"},
"ownerReferences":[{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","name":"s","uid":"u","controller":true,"blockOwnerDeletion":true}],
"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"batch/v1","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:active":{},"f:ready":{}}}}]},
"spec":{"parallelism":1,"completions":1,"completionMode":"Indexed","backoffLimit":6,"manualSelector":false,"podReplacementPolicy":"TerminatingOrFailed","suspend":false,
"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"9e3f1c52-0f63-4c0e-a1b5-%012[1]d"}},
"template":{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"9e3f1c52-0f63-4c0e-a1b5-%012[1]d","batch.kubernetes.io/job-name":"j%[1]d","oxgang.dev/generation":"1","oxgang.dev/job-uid":"9e3f1c52-0f63-4c0e-a1b5-%012[1]d","oxgang.dev/queue":"train"}},
"spec":{"containers":[{"name":"train","image":"registry.example.com/train:1","command":["python","train.py"],"env":[{"name":"RATE","value":"0.1"}],"imagePullPolicy":"IfNotPresent","resources":{"limits":{"nvidia.com/gpu":"1"},"requests":{"cpu":"12","memory":"128Gi","nvidia.com/gpu":"1"}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],
"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}},
"dnsPolicy":"ClusterFirst","restartPolicy":"Never","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}},
"status":{"active":1,"ready":1,"startTime":"2026-11-28T02:06:12Z","uncountedTerminatedPods":{},"terminating":0,"ratio":0.5,
"conditions":[{"type":"Scheduled","status":"True","reason":"AsPlanned","message":"it runs on n1","lastTransitionTime":"2026-11-28T02:06:12Z"}]}}`

// decoded returns Job number i as a watch decodes it.
func decoded(t testing.TB, i int) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(fmt.Appendf(nil, text, i)); err != nil {
		t.Fatal(err)
	}
	return o
}

// An object that was packed says what it said, but for managedFields and what kubectl last applied. Its numbers are of the
// same types, or a change of one would be written that nobody made.
func TestPackObject(t *testing.T) {
	want, o := decoded(t, 7), decoded(t, 7)
	want.SetManagedFields(nil)
	unstructured.RemoveNestedField(want.Object, "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	for range 2 { // a cache may do it twice
		if err := PackObject(o); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := ObjectOf(o).Unpack()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.Object, whole.Object); d != "" {
		t.Errorf("- as it was, + as it was packed:\n%s", d)
	}
	if _, read := o.Object["spec"]; read {
		t.Error("the spec of a packed object is still there as maps")
	}
}

// What watches, selectors and owners ask of an object can be read while it is packed.
func TestPackObject_leaves_metadata(t *testing.T) {
	o := decoded(t, 7)
	if err := PackObject(o); err != nil {
		t.Fatal(err)
	}
	m := ObjectOf(o).Meta()
	queue, err := labels.Parse("oxgang.dev/queue=train")
	if err != nil {
		t.Fatal(err)
	}
	if o.GetKind() != "Job" || m.GetName() != "j7" || m.GetNamespace() != "default" || m.GetResourceVersion() != "7" || !queue.Matches(labels.Set(m.GetLabels())) ||
		len(m.GetOwnerReferences()) != 1 || m.GetAnnotations()["oxgang.dev/epoch"] != "3" || m.GetCreationTimestamp().Year() != 2026 {
		t.Errorf("%+v", o.Object)
	}
}

// An object that was never packed, and one without metadata or a text, are as they are.
func TestUnpack_of_one_that_is_not_packed(t *testing.T) {
	o := decoded(t, 7)
	if whole, err := ObjectOf(o).Unpack(); err != nil || whole != o {
		t.Errorf("%v, %v, want the object itself", whole, err)
	}
	broken := &unstructured.Unstructured{Object: map[string]any{packed: "{"}}
	if whole, err := ObjectOf(broken).Unpack(); err == nil {
		t.Errorf("%v, want an error", whole)
	}
}

// live returns how many bytes are live.
func live() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// many returns Jobs as a cache has them, and the bytes that each takes.
func many(t testing.TB, n int, keep func(*unstructured.Unstructured) error) ([]*unstructured.Unstructured, float64) {
	t.Helper()
	before := live()
	all := make([]*unstructured.Unstructured, n)
	for i := range all {
		all[i] = decoded(t, i)
		all[i].SetOwnerReferences(nil) // most Jobs are of no other object
		if err := keep(all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all, float64(live()-before) / float64(n)
}

func stripped(o *unstructured.Unstructured) error { o.SetManagedFields(nil); return nil }

// A packed Job takes a third of what one takes as maps, at most.
func TestPackObject_takes_little_memory(t *testing.T) {
	maps, before := many(t, 500, stripped)
	small, after := many(t, 500, PackObject)
	t.Logf("%.0f bytes a Job as maps, %.0f packed", before, after)
	if 3*after > before {
		t.Errorf("%.0f bytes a Job, and %.0f as maps, want a third at most", after, before)
	}
	runtime.KeepAlive(maps)
	runtime.KeepAlive(small)
}

// The memory of 10,000 Jobs in a cache, as maps and packed, and the time that packing takes.
func BenchmarkPackObject(b *testing.B) {
	for name, keep := range map[string]func(*unstructured.Unstructured) error{"maps": stripped, "packed": PackObject} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				all, each := many(b, 10000, keep)
				b.ReportMetric(each, "B/job")
				runtime.KeepAlive(all)
			}
		})
	}
}

// What it takes to read one.
func BenchmarkUnpack(b *testing.B) {
	o := decoded(b, 7)
	if err := PackObject(o); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ObjectOf(o).Unpack(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(o.Object[packed].(string))), "text-B") //nolint:forcetypeassert // PackObject has written it
}

// Texts are JSON that others can read, too.
func TestPackObject_writes_JSON(t *testing.T) {
	o := decoded(t, 7)
	if err := PackObject(o); err != nil {
		t.Fatal(err)
	}
	if text, is := o.Object[packed].(string); !is || !json.Valid([]byte(text)) {
		t.Errorf("%q", o.Object[packed])
	}
}
