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
	podUIDs   map[string]bool     // of pods
	workloads []*kubeObject
	nodes     map[string]kubeNode // with GPUs, by name
	rays      map[string]string   // uid of a RayJob, by namespace and name of its RayCluster
	taken     time.Time
	kubeQueues
}

type kubeJob struct {
	object *kubeObject
	shape  *shape
	pods   []*kubePod // with GPUs
	quota  *kubeObject
	parts  []*kubeObject // jobs that it owns, directly or not
}

type kubePod struct {
	object *kubeObject
	node   string
	bound  time.Time // zero: not bound
}

func newKubeDump(o parse.Options) *kubeDump {
	return &kubeDump{
		o: o, jobs: map[string]*kubeJob{}, podUIDs: map[string]bool{}, nodes: map[string]kubeNode{}, rays: map[string]string{},
		kubeQueues: kubeQueues{local: map[string]string{}, flavors: map[string]map[string]string{}, labels: map[string]map[string]string{}},
	}
}

// add adds an object to the dump, and counts objects of other kinds.
func (d *kubeDump) add(o *kubeObject) error {
	if err := o.check(); err != nil {
		return err
	}
	for _, t := range o.times() {
		if t.After(d.taken) {
			d.taken = t
		}
	}
	switch o.Kind {
	case "Pod":
		return d.addPod(o)
	case "Workload":
		return d.addWorkload(o)
	case "ClusterQueue":
		return d.addClusterQueue(o)
	case "LocalQueue":
		return d.addLocalQueue(o)
	case "ResourceFlavor":
		return d.addFlavor(o)
	case "Node":
		return d.addNode(o)
	case "Job", "JobSet", "TrainJob", "RayJob":
		return d.addJob(o)
	default:
		d.o.Summary.Note("objects of other kinds, ignored")
	}
	o.Spec = nil
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
	if o.Kind == "RayJob" && o.Status.RayCluster != "" {
		d.rays[o.Meta.Namespace+"/"+o.Status.RayCluster] = o.Meta.UID
	}
	return nil
}

// addPod adds a pod with GPUs, once: lists may overlap.
func (d *kubeDump) addPod(o *kubeObject) error {
	var p podSpec
	if err := json.Unmarshal(o.Spec, &p); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	o.Spec = nil
	if uid := o.Meta.UID; p.gpus() > 0 && !d.podUIDs[uid] {
		d.podUIDs[uid] = true
		d.pods = append(d.pods, &kubePod{object: o, node: p.Node, bound: o.since("PodScheduled")})
	}
	return nil
}

// owner returns the uid of the outermost job that owns an object, or "".
func (d *kubeDump) owner(o *kubeObject) string {
	uid := ""
	for range 8 { // deeper than any: TrainJob, JobSet, Job, Pod
		next := d.rays[o.Meta.Namespace+"/"+o.Meta.Labels["ray.io/cluster"]]
		for _, owner := range o.Meta.Owners {
			if d.jobs[owner.UID] != nil {
				next = owner.UID
			}
		}
		if next == "" || next == o.Meta.UID {
			break
		}
		uid, o = next, d.jobs[next].object
	}
	return uid
}

// roots returns the jobs without an owner, in order, each with its objects.
func (d *kubeDump) roots() []*kubeObject {
	var roots []*kubeObject
	for _, o := range d.order {
		if uid := d.owner(o); uid != "" {
			d.jobs[uid].parts = append(d.jobs[uid].parts, o)
			continue
		}
		if slices.ContainsFunc(o.Meta.Owners, func(w kubeOwner) bool { return kubeShapes[w.Kind] != nil }) {
			d.o.Summary.Note("jobs whose owner is missing from the dump, treated as separate jobs")
		}
		roots = append(roots, o)
	}
	for _, p := range d.pods {
		if uid := d.owner(p.object); uid != "" {
			d.jobs[uid].pods = append(d.jobs[uid].pods, p)
		} else {
			d.o.Summary.Note("GPU pods without a job in the dump, ignored")
		}
	}
	for _, w := range d.workloads {
		if uid := d.owner(w); uid != "" {
			d.jobs[uid].quota = w
		}
	}
	return roots
}

// observe returns a job with its times (except At), or why it is dropped.
func (d *kubeDump) observe(o *kubeObject) (seen parse.Observed, drop string) {
	j := d.jobs[o.Meta.UID]
	for _, part := range j.parts { // the JobSet of a TrainJob has the values of its runtime
		if o.Kind == "TrainJob" && part.Kind == "JobSet" {
			j.shape = d.jobs[part.Meta.UID].shape
		}
	}
	s := j.shape
	if drop := s.dropped(); drop != "" {
		return seen, drop
	}
	seen.Submitted = o.Meta.Created
	if drop := d.times(j, &seen); drop != "" {
		return seen, drop
	}
	queue, priority := d.queued(j)
	seen.Arrival = workload.Arrival{Duration: d.end(&seen).Sub(seen.Started), Spec: job.Spec{
		ID: job.ID(o.Meta.UID), Name: o.Meta.Namespace + "/" + o.Meta.Name, User: o.Meta.Namespace,
		Queue: queue, Priority: priority, GPUs: s.gpus, WorkerGPUs: s.each,
		CPUs: s.cpus, Memory: int64(s.memory), GPUTypes: d.types(j, s), Adaptivity: job.Rigid,
	}}
	return seen, dropUnless(seen.Arrival)
}

func (s *shape) dropped() string {
	switch {
	case s.gpus > 0:
		return ""
	case s.claims:
		return "jobs with resource claims dropped: claims are not supported"
	case s.parts:
		return "jobs with parts of GPUs dropped"
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
	if t := typeOf(s.selector); len(all) == 0 && t != unnamedType {
		all = append(all, t)
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
