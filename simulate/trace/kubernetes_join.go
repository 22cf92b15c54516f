package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

type kubeDump struct {
	o         parse.Options
	jobs      map[string]*kubeJob // by uid
	order     []*kubeObject       // of jobs, with repeated ones
	pods      []*kubePod          // with GPUs
	podUIDs   map[string]bool
	workloads map[string][]*kubeObject // Workloads of Kueue, by their owners
	nodes     map[string]kubeNode      // with whole GPUs, by name
	split     map[string]bool          // names of nodes whose GPUs are shared or split
	labelled  map[string]string        // uid of a job, by namespace, label and value that its pods have
	ignored   map[string]bool          // kinds
	taken     time.Time
	kubeQueues
}

type kubeJob struct {
	object *kubeObject
	shape  *shape
	pods   []*kubePod    // with GPUs
	quotas []*kubeObject // Workloads of Kueue
	parts  []*kubeObject // jobs that it owns, directly or not
}

type kubePod struct {
	object *kubeObject
	node   string
	gpus   int
	bound  time.Time // zero: not bound
}

func newKubeDump(o parse.Options) *kubeDump {
	return &kubeDump{
		o: o, jobs: map[string]*kubeJob{}, podUIDs: map[string]bool{}, nodes: map[string]kubeNode{},
		split: map[string]bool{}, labelled: map[string]string{}, ignored: map[string]bool{}, workloads: map[string][]*kubeObject{},
		kubeQueues: kubeQueues{local: map[string]string{}, flavors: map[string]map[string]string{}, labels: map[string]map[string]string{}},
	}
}

func (d *kubeDump) add(o *kubeObject) error {
	kind := kindOf(o.API, o.Kind)
	if err := o.readStatus(); err != nil && kind != nil {
		return fmt.Errorf("status: %w", err)
	}
	if err := o.check(); err != nil {
		return err
	}
	for _, t := range o.times() {
		if t.After(d.taken) {
			d.taken = t
		}
	}
	switch {
	case kind == nil:
		d.ignore(o)
	case kind.shape != nil:
		return d.addJob(o)
	default:
		return kind.add(d, o)
	}
	return nil
}

func (d *kubeDump) addJob(o *kubeObject) error {
	s, err := shapeOf(o)
	if err != nil {
		return err
	}
	o.Spec = nil
	d.order = append(d.order, o)
	if d.jobs[o.Meta.UID] == nil {
		d.jobs[o.Meta.UID] = &kubeJob{object: o, shape: s}
	}
	d.label(o)
	return nil
}

// Labels that pods have which no job owns directly.
const (
	rayLabel          = "ray.io/cluster"
	leaderWorkerLabel = "leaderworkerset.sigs.k8s.io/name"
)

func (d *kubeDump) label(o *kubeObject) {
	at := func(label, value string) string { return o.Meta.Namespace + "/" + label + "=" + value }
	switch o.Kind {
	case "RayJob":
		if o.Status.RayCluster != "" {
			d.labelled[at(rayLabel, o.Status.RayCluster)] = o.Meta.UID
		}
	case "RayCluster":
		if key := at(rayLabel, o.Meta.Name); d.labelled[key] == "" {
			d.labelled[key] = o.Meta.UID
		}
	case "LeaderWorkerSet":
		d.labelled[at(leaderWorkerLabel, o.Meta.Name)] = o.Meta.UID
	}
}

func (d *kubeDump) addPod(o *kubeObject) error {
	var p podSpec
	if err := json.Unmarshal(o.Spec, &p); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	o.Spec = nil
	if uid := o.Meta.UID; p.gpus() > 0 && !d.podUIDs[uid] {
		d.podUIDs[uid] = true
		d.pods = append(d.pods, &kubePod{object: o, node: p.Node, gpus: p.gpus(), bound: o.since("PodScheduled")})
	}
	return nil
}

func (d *kubeDump) owner(o *kubeObject) string {
	uid := ""
	for range 8 { // deeper than any: TrainJob, JobSet, Job, Pod
		next := ""
		for _, label := range []string{rayLabel, leaderWorkerLabel} {
			if value := o.Meta.Labels[label]; value != "" && next == "" {
				next = d.labelled[o.Meta.Namespace+"/"+label+"="+value]
			}
		}
		for _, owner := range o.Meta.Owners {
			if d.jobs[owner.UID] != nil {
				next = owner.UID
			}
		}
		if next == "" || next == uid || next == o.Meta.UID {
			break
		}
		uid, o = next, d.jobs[next].object
	}
	return uid
}

func (d *kubeDump) roots() []*kubeObject {
	roots := d.assign()
	for _, o := range d.order {
		if uid := d.owner(o); uid != "" {
			d.jobs[uid].parts = append(d.jobs[uid].parts, o)
			continue
		}
		if slices.ContainsFunc(o.Meta.Owners, kubeOwner.isJob) {
			d.o.Summary.Note("jobs whose owner is missing from the dump, treated as separate jobs")
		}
		roots = append(roots, o)
	}
	for _, p := range d.pods {
		uid := d.owner(p.object)
		if own := p.object.Meta.UID; uid == "" && d.jobs[own] != nil { // Kueue admitted it as one of a group of pods
			uid = own
		}
		if uid != "" {
			d.jobs[uid].pods = append(d.jobs[uid].pods, p)
		} else {
			d.o.Summary.Note(p.orphaned())
		}
	}
	return roots
}

func (w kubeOwner) isJob() bool {
	kind := kindOf(w.API, w.Kind)
	return kind != nil && kind.shape != nil
}

func (p *kubePod) orphaned() string {
	const note = "GPU pods without a job in the dump, ignored"
	for _, w := range p.object.Meta.Owners {
		if kubeName.MatchString(w.Kind) {
			return note + ": owned by a " + w.Kind
		}
	}
	return note
}

func (d *kubeDump) observe(o *kubeObject) (seen parse.Observed, drop string) {
	j := d.jobs[o.Meta.UID]
	for _, part := range j.parts { // the JobSet of a TrainJob has the values of its runtime
		if o.Kind == "TrainJob" && part.Kind == "JobSet" {
			j.shape = d.jobs[part.Meta.UID].shape
		}
	}
	s := j.shape
	if drop := d.dropped(j); drop != "" {
		return seen, drop
	}
	seen.Submitted = o.Meta.Created
	if drop := d.times(j, &seen); drop != "" {
		return seen, drop
	}
	queue, priority := d.queued(j)
	seen.Arrival = workload.Arrival{Duration: d.end(&seen).Sub(seen.Started), Spec: job.Spec{
		ID: job.ID(o.Meta.UID), Name: o.Meta.Namespace + "/" + o.name(), User: o.Meta.Namespace,
		Queue: queue, Priority: priority, GPUs: s.gpus, WorkerGPUs: s.each,
		CPUs: s.cpus, Memory: int64(s.memory), GPUTypes: d.types(j, s), Adaptivity: job.Rigid,
	}}
	return seen, dropUnless(seen.Arrival)
}

func (d *kubeDump) dropped(j *kubeJob) string {
	const parts = "jobs with parts of GPUs dropped"
	s := j.shape
	switch {
	case slices.ContainsFunc(j.pods, func(p *kubePod) bool { return d.split[p.node] }):
		return parts
	case s.gpus > 0:
		if s.parts || s.claims {
			d.o.Summary.Note("jobs with whole GPUs and with parts of GPUs or resource claims; only the whole GPUs count")
		}
		return ""
	case s.claims:
		return "jobs with resource claims dropped: claims are not supported"
	case s.parts:
		return parts
	case kubeName.MatchString(s.device):
		return "jobs with 0 GPUs and with " + s.device + " dropped"
	}
	return parse.DropNoGPUs
}

func queueOf(o *kubeObject) string {
	for _, label := range []string{"oxgang.dev/queue", "kueue.x-k8s.io/queue-name"} {
		if q := o.Meta.Labels[label]; q != "" {
			return q
		}
	}
	return ""
}

func (d *kubeDump) types(j *kubeJob, s *shape) []cluster.GPUType {
	var all []cluster.GPUType
	for _, p := range j.pods {
		if n, ok := d.nodes[p.node]; ok && !slices.Contains(all, n.gpuType) {
			all = append(all, n.gpuType)
		}
	}
	if len(all) == 0 {
		all = slices.Clone(s.types)
	}
	if w := j.quota(); len(all) == 0 && w != nil {
		all = d.flavorTypes(w.workload.flavors)
	}
	slices.Sort(all)
	switch len(all) {
	case 0:
		d.o.Summary.Note("jobs of unknown GPU type, may run on any type")
	case 1:
	default:
		d.o.Summary.Note("jobs on several GPU types, may run on each of these")
	}
	return all
}
