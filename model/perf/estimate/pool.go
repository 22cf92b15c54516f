package estimate

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/job"
)

// A Pool makes the Jobs of one run. If Options.Share is set, jobs of a class share throughput measurements, and a job
// without gradient statistics uses those that its class has. CPU curves are never shared. Source: BOA §5.3, "Profile
// Sharing".
type Pool struct {
	o       *Options
	classes map[job.Class]*measured
}

// NewPool returns a Pool without measurements. It keeps the pointer o.
func NewPool(o *Options) *Pool { return &Pool{o: o, classes: make(map[job.Class]*measured)} }

// New returns a Job for spec that starts with the measurements of its class. It keeps the pointer.
func (p *Pool) New(spec *job.Spec) *Job {
	if !p.o.Share || spec.Class == "" {
		return New(spec, p.o)
	}
	shared, ok := p.classes[spec.Class]
	if !ok {
		shared = newMeasured(p.o)
		p.classes[spec.Class] = shared
	}
	return newJob(spec, p.o, shared)
}

type measured struct {
	types     []profile  // by index in Options.Types
	refits    int        // number of changes of types
	gradients []gradient // by epoch
}

func newMeasured(o *Options) *measured { return &measured{types: make([]profile, len(o.Types))} }

type gradient struct {
	epoch, reports int
	sqr, vari      float64 // squared norm and variance, relative to the initial batch size
}

func (p *measured) addGradient(r *job.Report) {
	i, found := slices.BinarySearchFunc(p.gradients, r.Epoch, byEpoch)
	if !found {
		p.gradients = slices.Insert(p.gradients, i, gradient{epoch: r.Epoch})
	}
	g := &p.gradients[i]
	g.reports++
	w := 1 / float64(g.reports)
	g.sqr += w * (r.GradSqr - g.sqr)
	g.vari += w * (r.GradVar - g.vari)
}

func byEpoch(g gradient, epoch int) int { return cmp.Compare(g.epoch, epoch) }

func (p *measured) gradientAt(epoch int) gradient {
	if len(p.gradients) == 0 {
		return gradient{}
	}
	i, _ := slices.BinarySearchFunc(p.gradients, epoch, byEpoch)
	if i == len(p.gradients) || i > 0 && epoch-p.gradients[i-1].epoch <= p.gradients[i].epoch-epoch {
		i--
	}
	return p.gradients[i]
}

// A Version identifies a state of a Job. While Job.Version returns equal values, Model and Sensitivity return the same
// pointers.
type Version struct {
	own, refits int
	noise       float64 // of its class, while the job has none
}

// Version returns the current version. If Options.Share is set, measurements of other jobs of the class change it, too.
func (j *Job) Version() Version {
	v := Version{own: j.own}
	if j.known() {
		v.refits = j.refits
	}
	if j.known() && !j.grads {
		v.noise = j.noise(j.present())
	}
	return v
}
