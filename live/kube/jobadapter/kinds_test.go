package jobadapter

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

func TestRead_others(t *testing.T) {
	for file, want := range map[string]struct {
		workers int
		each    cluster.Resources
		grace   time.Duration
		spec    job.Spec
	}{
		"jobset.yaml": {6, cluster.Resources{GPUs: 4, CPUs: 16, Memory: 64 << 30}, 30 * time.Second, job.Spec{
			Name: "text/gpt", User: "text", GPUs: 24, MinGPUs: 24, MaxGPUs: 24, WorkerGPUs: 4, CPUs: 96, Memory: 384 << 30,
			Adaptivity: job.Rigid, GPUTypes: []cluster.GPUType{"h100", "a100"}, NonPreemptive: true,
		}},
		"trainjob.yaml": {4, cluster.Resources{GPUs: 4, CPUs: 12, Memory: 96 << 30}, 90 * time.Second, job.Spec{
			Name: "text/llama", User: "text", GPUs: 16, MinGPUs: 16, MaxGPUs: 16, WorkerGPUs: 4, CPUs: 48, Memory: 384 << 30,
			Adaptivity: job.Rigid, GPUTypes: []cluster.GPUType{"nvidia-h100-80gb-hbm3"},
		}},
		"rayjob.yaml": {4, cluster.Resources{GPUs: 1, CPUs: 8, Memory: 32 << 30}, 30 * time.Second, job.Spec{
			Name: "vision/tune", User: "vision", GPUs: 4, MinGPUs: 1, MaxGPUs: 8, WorkerGPUs: 1, CPUs: 32, Memory: 128 << 30,
			Adaptivity: job.StrongScaling,
		}},
	} {
		t.Run(file, func(t *testing.T) {
			o := object(t, file)
			got := kindOf(t, o).Read(o, byDefault, 0)
			want.spec.ID, want.spec.Queue, want.spec.Weight = job.ID(o.GetUID()), "training", 1
			want.spec.NoCheckpoint, want.spec.RestartOverhead = true, 30*time.Second
			if diff := cmp.Diff(&want.spec, got.Spec); diff != "" || got.Problem != "" {
				t.Fatal(got.Problem, diff)
			}
			if got.Workers != want.workers || got.PerWorker != want.each || got.Grace != want.grace || !got.FixedRequests {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// What workers ask for together is bounded, also where the product is more than an integer holds.
func TestRead_of_more_than_there_is(t *testing.T) {
	for workers, want := range map[int64]int64{1: 1 << 49, 2: 1 << 50, 3: 1 << 50, 20_000: 1 << 50, 100_000: 1 << 50} {
		o := object(t, "job.yaml", func(o map[string]any) {
			spec := child(o, "spec")
			spec["parallelism"], spec["completions"] = workers, workers
			delete(child(o, "metadata"), "annotations")
			mainOf(o)["resources"] = map[string]any{"limits": map[string]any{"nvidia.com/gpu": "8", "memory": "512Ti"}}
			delete(child(spec, "template", "spec"), "initContainers")
			pod := child(spec, "template", "spec")
			pod["containers"] = pod["containers"].([]any)[:1]
		})
		got := kindOf(t, o).Read(o, byDefault, 1)
		if got.Spec == nil || got.Spec.Memory != want {
			t.Errorf("%d workers: %q, %+v, want %d bytes", workers, got.Problem, got.Spec, want)
		}
	}
}

// What Start does is read back, and again after a stop, and what others wrote stays.
func TestStart_readBack(t *testing.T) {
	for file, workers := range map[string][]int{
		"job.yaml": {4, 1, 8, 4}, "jobset.yaml": {6, 6}, "trainjob.yaml": {4, 4}, "rayjob.yaml": {4, 2, 8, 4},
	} {
		t.Run(file, func(t *testing.T) {
			o := object(t, file)
			k := kindOf(t, o)
			before := k.Read(o, byDefault, 1)
			for i, n := range workers {
				g := &Grant{Epoch: int64(5 + i), Generation: int64(1 + i), Workers: n}
				if err := k.Start(o, g); err != nil {
					t.Fatal(err)
				}
				got := k.Read(o, byDefault, 1)
				if got.Generation != g.Generation || got.Workers != n || got.Suspended || o.GetAnnotations()[v1alpha1.Epoch] != string(rune('5'+i)) {
					t.Errorf("start %d: got generation %d, %d workers, suspended %v, %v", i, got.Generation, got.Workers, got.Suspended, o.GetAnnotations())
				}
				if diff := cmp.Diff(before.Spec, got.Spec); diff != "" {
					t.Errorf("start %d: what is asked for changed: %s", i, diff)
				}
				if err := k.Stop(o, g.Epoch); err != nil || !k.Read(o, byDefault, 1).Suspended {
					t.Errorf("stop %d: %v, want it suspended", i, err)
				}
			}
		})
	}
	o := object(t, "trainjob.yaml")
	theirs := o.DeepCopy().Object["spec"].(map[string]any)["runtimePatches"].([]any)
	if err := kindOf(t, o).Start(o, &Grant{Generation: 1, Workers: 4}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(theirs, o.Object["spec"].(map[string]any)["runtimePatches"].([]any)[:1]); diff != "" {
		t.Error("patches of others changed:", diff)
	}
}

func TestStart_refuses(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		grant Grant
		want  string
		fixed bool
	}{
		"no generation": {"job.yaml", Grant{Workers: 4}, "Job vision/resnet: start: generation 0, want at least 1", false},
		"no workers":    {"job.yaml", Grant{Generation: 1}, "Job vision/resnet: start: 0 workers, want 1 to 100000", false},
		"CPUs of others": {
			"job.yaml",
			Grant{Generation: 1, Workers: 4, CPUs: 0.5},
			"Job vision/resnet: start: 0.5 CPUs for a worker, want more than the 0.5 that its other containers request", false,
		},
		"memory of others": {
			"job.yaml",
			Grant{Generation: 1, Workers: 4, Memory: 1 << 20},
			"Job vision/resnet: start: 1048576 bytes of memory for a worker, want more than the 536870912 that its other containers request", false,
		},
		"less than its init containers": {
			"job.yaml",
			Grant{Generation: 1, Workers: 4, CPUs: 1},
			"Job vision/resnet: start: 1 CPUs and 0 bytes of memory for a worker, want at least the 2 and 215285235712 that its init containers request", false,
		},
		"jobset":   {"jobset.yaml", Grant{Generation: 1, Workers: 5}, "JobSet text/gpt: start: 5 workers, but it has 6: its number of workers is fixed: JobSet runs without its feature gate ElasticJobSet (see elasticJobSets of the ClusterPolicy)", true},
		"trainjob": {"trainjob.yaml", Grant{Generation: 1, Workers: 5}, "TrainJob text/llama: start: 5 workers, but it has 4: its number of workers is fixed: spec.trainer of a TrainJob is immutable", true},
	} {
		t.Run(name, func(t *testing.T) {
			o := object(t, c.file)
			err := kindOf(t, o).Start(o, &c.grant)
			if err == nil || err.Error() != c.want || errors.Is(err, errFixed) != c.fixed {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	for _, file := range []string{"jobset.yaml", "trainjob.yaml", "rayjob.yaml"} {
		o := object(t, file, func(o map[string]any) { child(o, "spec")["suspend"] = false })
		if err := kindOf(t, o).Resize(o, &Grant{Workers: 5}); !errors.Is(err, errFixed) {
			t.Errorf("%s: resized while it runs: got %v, want ErrFixed", file, err)
		}
	}
}

// What a user does not ask for is not put into a job that Kueue queues: its quota need not
// cover it.
func TestKueue_isAskedForNothingNew(t *testing.T) {
	for _, queue := range []string{"", "team"} {
		o := object(t, "job.yaml", func(o map[string]any) {
			if queue != "" {
				grow(o, "metadata", "labels")[kueueQueue] = queue
			}
			main := grow(o, "spec", "template", "spec")["containers"].([]any)[0].(map[string]any)
			for _, list := range []string{"requests", "limits"} {
				delete(grow(main, "resources", list), "memory")
			}
		})
		k := kindOf(t, o)
		if err := k.Start(o, &Grant{Epoch: 1, Generation: 1, Workers: 4, CPUs: 20, Memory: 100 << 30}); err != nil {
			t.Fatal(err)
		}
		got := k.Read(o, byDefault, 1).PerWorker
		if hasMemory := got.Memory == 100<<30; got.CPUs != 20 || hasMemory != (queue == "") {
			t.Errorf("queue %q: got %+v, want 20 CPUs, and the memory only where Kueue does not count it", queue, got)
		}
	}
}

// Kueue suspends and resumes its jobs; our part is to size them and to let go of them.
func TestKueue(t *testing.T) {
	o := object(t, "job.yaml", func(o map[string]any) {
		grow(o, "metadata", "labels")[kueueQueue] = "team"
		grow(o, "metadata", "annotations")[kueueGates] = "example.com/quota," + v1alpha1.AdmissionGate
		grow(o, "metadata", "annotations")[v1alpha1.ResizeBy] = "Restart"
	})
	k := kindOf(t, o)
	if got := k.Read(o, byDefault, 1); !got.Kueue || !got.Gated {
		t.Fatalf("got %+v, want Kueue and Gated", got)
	}
	if err := k.Start(o, &Grant{Epoch: 1, Generation: 1, Workers: 2}); err != nil {
		t.Fatal(err)
	}
	got := k.Read(o, byDefault, 1)
	if !got.Suspended || got.Gated || got.Workers != 2 || got.Generation != 1 || o.GetAnnotations()[kueueGates] != "example.com/quota" {
		t.Errorf("got %+v, gates %q, want it sized, suspended, and held by the other gate only", got, o.GetAnnotations()[kueueGates])
	}
	child(o.Object, "spec")["suspend"] = false
	if err := k.Stop(o, 2); !errors.Is(err, errKueue) {
		t.Errorf("stop: got %v, want ErrKueue", err)
	}
	if err := k.Resize(o, &Grant{Workers: 3}); !errors.Is(err, errKueue) || !errors.Is(err, errFixed) {
		t.Errorf("resize: got %v, want ErrKueue and ErrFixed", err)
	}
}

// A Job whose pods Kueue admits in slices is resized while it runs; Kueue still starts and stops it.
func TestKueue_slices(t *testing.T) {
	o := object(t, "job.yaml", func(o map[string]any) {
		grow(o, "metadata", "labels")[kueueQueue] = "team"
		grow(o, "spec", "template", "spec")["schedulingGates"] = []any{map[string]any{"name": kueueSlices}}
		child(o, "spec")["suspend"] = false
	})
	k := kindOf(t, o)
	if got := k.Read(o, byDefault, 1); !got.Sliced || got.Resizing != v1alpha1.InPlace || got.Spec == nil || !got.Spec.Resizes {
		t.Fatalf("got %q, %+v, want it resized in place", got.Problem, got)
	}
	if err := k.Resize(o, &Grant{Epoch: 1, Workers: 3}); err != nil || k.Read(o, byDefault, 1).Workers != 3 {
		t.Errorf("resize: %v, want 3 workers", err)
	}
	if err := k.Stop(o, 2); !errors.Is(err, errKueue) {
		t.Errorf("stop: got %v, want ErrKueue", err)
	}
	workload := object(t, "job.yaml", annotated(kueueGates, "example.com/quota,"+v1alpha1.AdmissionGate))
	if j := k.Read(o, byDefault, 1); !ReleaseWorkload(workload, j) || workload.GetAnnotations()[kueueGates] != "example.com/quota" || ReleaseWorkload(workload, j) {
		t.Errorf("its Workload is held by %q, want the other gate, and that nothing is left to do", workload.GetAnnotations()[kueueGates])
	}
	grow(o.Object, "spec", "template", "spec")["schedulingGates"] = []any{}
	if got := k.Read(o, byDefault, 1); got.Sliced || got.Problem == "" {
		t.Errorf("without the gate: %+v, want that it cannot be resized in place", got)
	}
}

// Somebody who changes the size of a job after us asks anew.
func TestAsked_others(t *testing.T) {
	o := object(t, "job.yaml")
	k := kindOf(t, o)
	if err := k.Start(o, &Grant{Epoch: 1, Generation: 1, Workers: 2}); err != nil {
		t.Fatal(err)
	}
	child(o.Object, "spec")["parallelism"], child(o.Object, "spec")["completions"] = int64(3), int64(3)
	if got := k.Read(o, byDefault, 1); got.Spec == nil || got.Spec.GPUs != 24 {
		t.Errorf("got %+v, want 24 GPUs", got.Spec)
	}
	o.Object["metadata"].(map[string]any)["annotations"].(map[string]any)[v1alpha1.Asked] = `{"asked":{"workers":0},"granted":{"workers":3,"requests":{"cpu":"30","memory":"200Gi"},"limits":{"memory":"200Gi"}}}`
	if got, want := k.Read(o, byDefault, 1).Problem, "annotation oxgang.dev/asked: 0 workers, want 1 to 100000"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A container that asks for no CPUs gets some, and is as before when none are granted.
func TestStart_withoutRequests(t *testing.T) {
	o := object(t, "job.yaml", func(o map[string]any) {
		c := child(o, "spec", "template", "spec")["containers"].([]any)[0].(map[string]any)
		c["resources"] = map[string]any{"limits": map[string]any{"nvidia.com/gpu": int64(8)}}
	})
	k := kindOf(t, o)
	before := k.Read(o, byDefault, 1)
	for i, cpus := range []float64{8, 0} {
		if err := k.Start(o, &Grant{Generation: int64(i + 1), Workers: 4, CPUs: cpus}); err != nil {
			t.Fatal(err)
		}
		got := k.Read(o, byDefault, 1)
		if want := max(cpus, before.PerWorker.CPUs); got.PerWorker.CPUs != want || !cmp.Equal(before.Spec, got.Spec) {
			t.Errorf("%g CPUs: got %v, asked %+v", cpus, got.PerWorker, got.Spec)
		}
		if err := k.Stop(o, 1); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEnded(t *testing.T) {
	condition := func(kind string) func(map[string]any) {
		return func(o map[string]any) {
			grow(o, "status")["conditions"] = []any{
				map[string]any{"type": "Suspended", "status": "False"},
				map[string]any{"type": kind, "status": "True", "reason": "Because", "message": "of\n\tthis\n"},
			}
		}
	}
	ray := func(deployment, status string) func(map[string]any) {
		return func(o map[string]any) {
			s := grow(o, "status")
			s["jobDeploymentStatus"], s["jobStatus"], s["reason"], s["message"] = deployment, status, "Because", "of this"
		}
	}
	none := scheduler.Lost
	for _, c := range []struct {
		file string
		edit func(map[string]any)
		want scheduler.Outcome
	}{
		{"job.yaml", condition("Complete"), scheduler.Done},
		{"job.yaml", condition("Failed"), scheduler.Failed},
		{"job.yaml", condition("FailureTarget"), none},
		{"jobset.yaml", condition("Completed"), scheduler.Done},
		{"jobset.yaml", condition("Failed"), scheduler.Failed},
		{"trainjob.yaml", condition("Complete"), scheduler.Done},
		{"trainjob.yaml", condition("Failed"), scheduler.Failed},
		{"rayjob.yaml", ray("Complete", "SUCCEEDED"), scheduler.Done},
		{"rayjob.yaml", ray("Complete", "FAILED"), scheduler.Failed},
		{"rayjob.yaml", ray("Complete", "STOPPED"), scheduler.Cancelled},
		{"rayjob.yaml", ray("Failed", ""), scheduler.Failed},
		{"rayjob.yaml", ray("Suspended", "STOPPED"), none},
	} {
		o := object(t, c.file, c.edit)
		got := kindOf(t, o).Read(o, byDefault, 1).Ended
		if c.want == none {
			if got != nil {
				t.Errorf("%s: ended as %v, want not", c.file, got)
			}
			continue
		}
		if got == nil || got.Outcome != c.want || got.Detail != "Because: of this" {
			t.Errorf("%s: got %v, want %v", c.file, got, c.want)
		}
	}
	o := object(t, "job.yaml", func(o map[string]any) { child(o, "metadata")["deletionTimestamp"] = "2026-03-01T11:00:00Z" })
	if got := kindOf(t, o).Read(o, byDefault, 1).Ended; got == nil || got.Outcome != scheduler.Cancelled {
		t.Errorf("deleted: got %v, want cancelled", got)
	}
}

// A job names the job that it may be a part of. A job that the scheduler has started by itself is no part of another
// one, whatever owner is written into it afterwards.
func TestRead_parts(t *testing.T) {
	owned := func(o map[string]any) {
		child(o, "metadata")["ownerReferences"] = []any{map[string]any{
			"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "name": "gpt", "uid": "u", "controller": true,
		}}
	}
	o := object(t, "jobset.yaml", owned)
	if got := kindOf(t, o).Read(o, byDefault, 1); got.Part == nil || got.Part.UID != "u" {
		t.Errorf("part of %+v, want TrainJob u", got.Part)
	}
	o = object(t, "job.yaml")
	if err := kindOf(t, o).Start(o, &Grant{Epoch: 1, Generation: 1, Workers: 4}); err != nil {
		t.Fatal(err)
	}
	owned(o.Object)
	if got := kindOf(t, o).Read(o, byDefault, 1); got.Part != nil {
		t.Errorf("part of %+v, want of no other job", got.Part)
	}
}

func TestKinds_order(t *testing.T) {
	var got []string
	for _, k := range New(&Options{GPUResource: "amd.com/gpu"}) {
		got = append(got, k.GVK().Kind)
	}
	if want := []string{"Job", "JobSet", "TrainJob", "RayJob"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	o := object(t, "job.yaml")
	if got := New(&Options{GPUResource: "amd.com/gpu"})[0].Read(o, byDefault, 1).Problem; got != "its pods request nvidia.com/gpu, but only whole GPUs (amd.com/gpu) are scheduled: request these, or remove the label oxgang.dev/queue" {
		t.Errorf("GPUs of another maker: got %q", got)
	}
	var u unstructured.Unstructured
	if got := Kinds[0].Read(&u, byDefault, 1); got.Problem == "" || got.Spec != nil {
		t.Errorf("nothing at all: got %+v, want a problem", got)
	}
}

// The samples that people copy say nothing that is refused.
func TestRead_samples(t *testing.T) {
	for _, file := range []string{"job.yaml", "jobset.yaml", "trainjob.yaml", "rayjob.yaml"} {
		o := object(t, "../../../../deploy/samples/"+file)
		if j := kindOf(t, o).Read(o, byDefault, 1); j.Problem != "" || j.Spec == nil {
			t.Errorf("%s: %s", file, j.Problem)
		}
	}
}

// A job opts out by the annotation alone, as admission has it: by anything else it would be created
// suspended, and left so.
func TestRead_opts_out(t *testing.T) {
	for field, want := range map[string]bool{"annotations": true, "labels": false} {
		o := object(t, "job.yaml")
		if err := unstructured.SetNestedField(o.Object, "true", "metadata", field, v1alpha1.OptOut); err != nil {
			t.Fatal(err)
		}
		if got := kindOf(t, o).Read(o, byDefault, 1).OptOut; got != want {
			t.Errorf("%s: got %v, want %v", field, got, want)
		}
	}
}

// A job whose pods bypass the controllers or kube-scheduler is not planned.
func TestRead_bypassed(t *testing.T) {
	for want, edit := range map[string]func(o map[string]any){
		"spec.managedBy is \"example.com/nobody\"": func(o map[string]any) { child(o, "spec")["managedBy"] = "example.com/nobody" },
		"nodeName of its pods is \"n1\"":           func(o map[string]any) { child(o, "spec", "template", "spec")["nodeName"] = "n1" },
		"schedulingGates of its pods has \"example.com/never\"": func(o map[string]any) {
			child(o, "spec", "template", "spec")["schedulingGates"] = []any{map[string]any{"name": "kueue.x-k8s.io/topology"}, map[string]any{"name": "example.com/never"}}
		},
		"": func(o map[string]any) { child(o, "spec")["managedBy"] = "kubernetes.io/job-controller" },
	} {
		o := object(t, "job.yaml", edit)
		if got := kindOf(t, o).Read(o, byDefault, 1).Problem; !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("problem %q, want %q", got, want)
		}
	}
}

// Roles have the constraints of the user, without the node that Start added.
func TestRead_roles(t *testing.T) {
	o := object(t, "job.yaml", func(o map[string]any) {
		spec := child(o, "spec", "template", "spec")
		delete(spec, "nodeSelector")
		spec["affinity"] = map[string]any{"podAntiAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": []any{map[string]any{
			"topologyKey": "kubernetes.io/hostname", "labelSelector": map[string]any{"matchLabels": map[string]any{"app": "resnet"}},
		}}}}
	})
	k := kindOf(t, o)
	before := k.Read(o, byDefault, 1).Roles
	if len(before) != 1 || !before[0].Apart || before[0].Spec.Affinity != nil {
		t.Fatalf("roles %+v, want one whose pods exclude each other", before)
	}
	child(o.Object, "spec", "template", "spec")["schedulingGates"] = nil
	if err := k.Start(o, &Grant{Epoch: 1, Generation: 1, Workers: 4, Node: "n1"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, k.Read(o, byDefault, 1).Roles); diff != "" {
		t.Error("the roles have changed:", diff)
	}
	o = object(t, "jobset.yaml", func(o map[string]any) {
		all, _ := child(o, "spec")["replicatedJobs"].([]any)
		r, _ := all[0].(map[string]any)
		grow(r, "template", "spec", "template", "spec", "nodeSelector")["pool"] = "big"
	})
	if got := kindOf(t, o).Read(o, byDefault, 1).Roles; len(got) == 0 || got[0].Name == "" || got[0].Spec.NodeSelector["pool"] != "big" {
		t.Errorf("roles %+v, want the first replicated job with its selector", got)
	}
}

// A Job whose policies count its workers keeps its size, whatever its annotations allow.
func TestRead_policies_of_a_size(t *testing.T) {
	for name, policy := range map[string]any{
		"successPolicy":    map[string]any{"rules": []any{map[string]any{"succeededIndexes": "0-3"}}},
		"maxFailedIndexes": int64(4),
	} {
		o := object(t, "job.yaml", func(o map[string]any) { child(o, "spec")[name] = policy })
		if got := kindOf(t, o).Read(o, byDefault, 1); got.Problem != "" || got.Spec.MinGPUs != 32 || got.Spec.MaxGPUs != 32 || got.Spec.Adaptivity&job.GPUCount != 0 {
			t.Errorf("%s: problem %q, %+v; want that it keeps its 32 GPUs", name, got.Problem, got.Spec)
		}
	}
}
