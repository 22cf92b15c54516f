package jobadapter

import (
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// restart is the default time of a start with cached images.
const restart = 30 * time.Second

const maxWeight = 1000

type request struct {
	annotations
	j       *Job
	s       *shape
	o       *Options
	d       *v1alpha1.JobDefaults
	workers int
	each    cluster.Resources
	flavor  map[string]string
}

func (r *request) spec(weight int32) *job.Spec {
	spec := &job.Spec{
		ID: job.ID(r.j.UID), Name: r.j.Namespace + "/" + r.j.Name,
		User: r.j.Namespace, Queue: r.j.Queue, Class: r.class(),
		Weight:     float64(min(max(1, weight), maxWeight)),
		GPUs:       r.workers * r.each.GPUs,
		WorkerGPUs: r.each.GPUs,
		CPUs:       float64(r.workers) * r.each.CPUs, Memory: r.memory(),
		Adaptivity:    job.Rigid,
		GPUTypes:      r.eligible(),
		NonPreemptive: r.yes(v1alpha1.NonPreemptible), NoCheckpoint: !r.yes(v1alpha1.Checkpoints),
		RestartOverhead: restart,
	}
	if spec.GPUs > inventory.MostGPUs || r.each.GPUs > inventory.MostGPUs/2 {
		r.bad("%d workers with %d GPUs each, want at most %d GPUs", r.workers, r.each.GPUs, inventory.MostGPUs)
	}
	r.yes(v1alpha1.OptOut)
	if n, ok := r.number(v1alpha1.RestartSeconds, 0, maxRestart); ok {
		spec.RestartOverhead = time.Duration(n) * time.Second
	}
	r.work(spec)
	r.batch(spec)
	r.limits(spec)
	return spec
}

func (r *request) work(spec *job.Spec) {
	spec.Target, _ = r.number(v1alpha1.Samples, 1, maxSamples)
	seconds, ok := r.number(v1alpha1.RunSeconds, 1, maxRun)
	switch {
	case ok && spec.Target > 0:
		r.wrong(v1alpha1.RunSeconds, "none together with %s", v1alpha1.Samples)
	case ok:
		spec.Target, spec.Timed = seconds, true
	}
}

func (r *request) memory() int64 {
	if n := int64(r.workers); r.each.Memory < inventory.MostMemory/n {
		return n * r.each.Memory
	}
	return inventory.MostMemory
}

func (r *request) batch(spec *job.Spec) {
	size, most := r.whole(v1alpha1.BatchSize, maxBatch), r.whole(v1alpha1.MaxBatchSize, maxBatch)
	switch {
	case most > 0 && size == 0:
		r.wrong(v1alpha1.MaxBatchSize, "none without %s", v1alpha1.BatchSize)
	case most > 0 && most < size:
		r.wrong(v1alpha1.MaxBatchSize, "at least %s, %d", v1alpha1.BatchSize, size)
	}
	spec.BatchSize, spec.Batch = size, job.BatchLimits{Init: size, Max: max(size, most)}
	if most > size {
		spec.Adaptivity |= job.BatchSizes
	}
}

func (r *request) limits(spec *job.Spec) {
	least, most := r.gpus(v1alpha1.MinGPUs, max(1, r.each.GPUs)), r.gpus(v1alpha1.MaxGPUs, max(1, r.each.GPUs))
	switch {
	case least > spec.GPUs:
		r.wrong(v1alpha1.MinGPUs, "at most the %d that it requests", spec.GPUs)
	case most > 0 && most < spec.GPUs:
		r.wrong(v1alpha1.MaxGPUs, "at least the %d that it requests", spec.GPUs)
	}
	r.j.Resizing = r.resizes()
	if r.j.Resizing == v1alpha1.Never {
		spec.MinGPUs, spec.MaxGPUs = spec.GPUs, spec.GPUs
		return
	}
	if least == 0 && r.of[v1alpha1.ResizeBy] == "" {
		least = spec.GPUs // never below its request by the queue's default
	}
	if most == 0 {
		most = max(spec.GPUs, int(r.d.MaxGPUs)/max(1, r.each.GPUs)*r.each.GPUs)
	}
	spec.MinGPUs, spec.MaxGPUs = max(least, r.each.GPUs), min(most, maxWorkers*r.each.GPUs)
	spec.Adaptivity |= job.GPUCount
	spec.Resizes = r.j.Resizing == v1alpha1.InPlace
}

func (r *request) resizes() v1alpha1.Resizing {
	asks, inPlace := r.resizing(), r.s.inPlace && (!r.j.Kueue || r.j.Sliced)
	switch {
	case asks == v1alpha1.Never || r.s.keeps && r.s.fixed == "":
		return v1alpha1.Never
	case asks != "" && r.s.fixed != "":
		r.wrong(v1alpha1.ResizeBy, "%s: %s", v1alpha1.Never, r.s.fixed)
		return v1alpha1.Never
	case asks == v1alpha1.InPlace && !inPlace:
		r.wrong(v1alpha1.ResizeBy, "%s or %s: a %s, or a job in Kueue without kueue.x-k8s.io/elastic-job, cannot be resized while it runs", v1alpha1.Never, v1alpha1.Restart, r.j.Kind)
		return v1alpha1.Never
	case asks != "":
		return asks
	case r.s.fixed != "" || r.d.Resize != v1alpha1.Restart && r.d.Resize != v1alpha1.InPlace:
		return v1alpha1.Never
	case r.d.Resize == v1alpha1.InPlace && !inPlace:
		return v1alpha1.Restart
	}
	return r.d.Resize
}

func (r *request) eligible() []cluster.GPUType {
	named := r.types()
	allowed, err := r.allowed()
	switch {
	case err != nil:
		r.bad("%v", err)
		return nil
	case allowed == nil:
		return named
	case named == nil:
		return allowed
	}
	both := slices.DeleteFunc(named, func(t cluster.GPUType) bool { return !slices.Contains(allowed, t) })
	if len(both) == 0 {
		r.wrong(v1alpha1.GPUTypes, "one that its pods may run on, %q", allowed)
	}
	return both
}

func (r *request) allowed() ([]cluster.GPUType, error) {
	var all set
	for _, p := range append([]corev1.PodTemplateSpec{r.s.pod}, r.s.also...) {
		one, err := typesOf(unchosen(&p.Spec, r.flavor), r.o)
		if err != nil {
			return nil, err
		}
		if one != nil {
			all = all.and(one...)
		}
	}
	if all.known && len(all.types) == 0 {
		return nil, errors.New("its pods allow no common GPU type, want one that all of them allow")
	}
	return all.types, nil
}
