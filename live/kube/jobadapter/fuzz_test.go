package jobadapter

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/model/job"
)

// sane returns an error unless what was read can be given to a scheduler.
func sane(j *Job) error {
	if (j.Spec == nil) != (j.Problem != "") {
		return fmt.Errorf("spec %v with problem %q", j.Spec, j.Problem)
	}
	if j.Workers < 0 && j.Spec != nil || j.Generation < 0 || j.Grace < 0 {
		return fmt.Errorf("%d workers, generation %d, grace %v", j.Workers, j.Generation, j.Grace)
	}
	s := j.Spec
	if s == nil {
		return nil
	}
	whole := s.WorkerGPUs > 0 && s.GPUs%s.WorkerGPUs == 0 && s.MinGPUs%s.WorkerGPUs == 0 && s.MaxGPUs%s.WorkerGPUs == 0
	numbers := s.Target >= 0 && s.Target <= maxSamples && s.CPUs >= 0 && !math.IsInf(s.CPUs, 0) && s.Memory >= 0 && s.Weight >= 1 && s.Weight <= maxWeight
	switch {
	case !whole || s.MinGPUs < 1 || s.MinGPUs > s.GPUs || s.GPUs > s.MaxGPUs || s.GPUs > inventory.MostGPUs:
		return fmt.Errorf("%d to %d GPUs, asks for %d, %d a worker", s.MinGPUs, s.MaxGPUs, s.GPUs, s.WorkerGPUs)
	case !s.Adaptivity.Has(job.GPUCount) && s.MinGPUs != s.MaxGPUs:
		return fmt.Errorf("rigid, with %d to %d GPUs", s.MinGPUs, s.MaxGPUs)
	case !numbers || s.BatchSize < 0 || s.Batch.Max < s.Batch.Init || s.Batch.Max > maxBatch || s.RestartOverhead < 0:
		return fmt.Errorf("numbers: %+v", s)
	}
	return nil
}

// The check rejects what must not be.
func TestSane(t *testing.T) {
	for name, j := range map[string]*Job{
		"neither":    {},
		"both":       {Spec: &job.Spec{}, Problem: "x"},
		"half":       {Spec: &job.Spec{GPUs: 12, MinGPUs: 8, MaxGPUs: 16, WorkerGPUs: 8, Adaptivity: job.StrongScaling, Weight: 1}},
		"most":       {Spec: &job.Spec{GPUs: 16, MinGPUs: 8, MaxGPUs: 8, WorkerGPUs: 8, Adaptivity: job.StrongScaling, Weight: 1}},
		"rigid":      {Spec: &job.Spec{GPUs: 8, MinGPUs: 8, MaxGPUs: 16, WorkerGPUs: 8, Weight: 1}},
		"NaN":        {Spec: &job.Spec{GPUs: 8, MinGPUs: 8, MaxGPUs: 8, WorkerGPUs: 8, Weight: 1, Target: math.NaN()}},
		"no weight":  {Spec: &job.Spec{GPUs: 8, MinGPUs: 8, MaxGPUs: 8, WorkerGPUs: 8}},
		"generation": {Problem: "x", Generation: -1},
	} {
		if sane(j) == nil {
			t.Errorf("%s: not seen", name)
		}
	}
}

// Whatever an object says, it is read without a panic and within bounds, and what Start makes
// of it is read back.
func FuzzRead(f *testing.F) {
	for _, file := range []string{"job.yaml", "jobset.yaml", "trainjob.yaml", "rayjob.yaml"} {
		text, err := object(f, file).MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, int32(1), int32(8))
	}
	for _, text := range []string{`{"spec":7}`, `{"metadata":{"annotations":[],"labels":"x"},"spec":{"template":[]}}`, `{"spec":{"replicatedJobs":[1,null]}}`} {
		f.Add([]byte(text), int32(-1), int32(-1))
	}
	f.Fuzz(func(t *testing.T, text []byte, weight, most int32) {
		var o unstructured.Unstructured
		if json.Unmarshal(text, &o.Object) != nil || o.Object == nil {
			t.Skip()
		}
		d := &v1alpha1.JobDefaults{Resize: v1alpha1.InPlace, MaxGPUs: most}
		for _, k := range Kinds {
			one := unstructured.Unstructured{Object: o.DeepCopy().Object}
			before := o.DeepCopy()
			j := k.Read(&one, d, weight)
			if err := sane(j); err != nil {
				t.Fatalf("%s: %v", k.GVK().Kind, err)
			}
			if all := changes("", before.Object, one.Object); all != nil {
				t.Fatalf("%s: Read changed %v", k.GVK().Kind, all)
			}
			if j.Spec == nil || j.UID == "" {
				continue
			}
			if k.Start(&one, &Grant{Epoch: 1, Generation: 3, Workers: j.Workers}) == nil {
				if got := k.Read(&one, d, weight); got.Generation != 3 || got.Workers != j.Workers {
					t.Fatalf("%s: read back generation %d, %d workers, want 3, %d", k.GVK().Kind, got.Generation, got.Workers, j.Workers)
				}
			}
		}
	})
}

// Whatever annotations say, a job is read within bounds.
func FuzzAnnotations(f *testing.F) {
	f.Add("8", "64", "InPlace", "2048", "8192", "1e6", "true", "30", "a100,t4", "x", `{"asked":{"workers":2},"granted":{"workers":4}}`)
	f.Add("NaN", "-0", "Never", "Inf", "0x10", "1e400", "", "-1", ",", "\x00", `{`)
	f.Fuzz(func(t *testing.T, least, most, by, batch, maxBatch, samples, checkpoints, seconds, types, class, asked string) {
		o := object(t, "job.yaml", func(o map[string]any) {
			delete(child(o, "spec", "template", "spec"), "nodeSelector")
			for key, value := range map[string]string{
				v1alpha1.MinGPUs: least, v1alpha1.MaxGPUs: most, v1alpha1.ResizeBy: by, v1alpha1.BatchSize: batch,
				v1alpha1.MaxBatchSize: maxBatch, v1alpha1.Samples: samples, v1alpha1.Checkpoints: checkpoints,
				v1alpha1.RestartSeconds: seconds, v1alpha1.GPUTypes: types, v1alpha1.Class: class, v1alpha1.Asked: asked,
			} {
				grow(o, "metadata", "annotations")[key] = value
			}
		})
		if err := sane(Kinds[0].Read(o, byDefault, 1)); err != nil {
			t.Fatal(err)
		}
	})
}

// A round reads every job that has changed.
func BenchmarkRead(b *testing.B) {
	for _, file := range []string{"job.yaml", "jobset.yaml", "trainjob.yaml", "rayjob.yaml"} {
		b.Run(file, func(b *testing.B) {
			o := object(b, file)
			k := kindOf(b, o)
			b.ReportAllocs()
			for b.Loop() {
				if k.Read(o, byDefault, 1).Spec == nil {
					b.Fatal("a problem")
				}
			}
		})
	}
}
