package jobstate

import (
	"encoding/json"
	"maps"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/agentapi"
)

// An Agent is what a job's program has said.
type Agent struct {
	Spoke      bool            // in any generation
	Heard      time.Time       // when it last spoke to this leader; zero: it did not
	Silent     bool            // the scheduler is told that the job is rigid
	Hello      *agentapi.Hello // the last one; nil: none
	StartTimes agentapi.Mean   // of starts, from plan to training
	// local is how many samples a worker takes at once at most, of each type that the program
	// has said it of.
	LocalMax map[cluster.GPUType]int
}

// Says takes in what a program says of itself. How many samples it takes at once it says of
// the type that it is on, and what it said on another type holds for that.
func (a *Agent) Says(h *agentapi.Hello, e *Job) {
	a.Hello = h
	if h == nil || int64(h.Generation) != e.Held.Generation || e.Held.GPUs == 0 || h.Batch.LocalMax <= 0 {
		return
	}
	a.LocalMax = maps.Clone(a.LocalMax)
	if a.LocalMax == nil {
		a.LocalMax = make(map[cluster.GPUType]int)
	}
	a.LocalMax[e.Held.GPUType] = h.Batch.LocalMax
}

// Described returns a job as its object and its program say.
func (a *Agent) Described(spec *job.Spec, e *Job) *job.Spec {
	if a.Hello == nil {
		return spec
	}
	said := a.Hello.Described(spec, e.Held.GPUType, a.StartTimes.Value())
	said.Batch.LocalMax = a.LocalMax
	return said
}

// Rigid returns a job as one that keeps what it holds.
func Rigid(spec *job.Spec, e *Job) *job.Spec {
	if e.Held.GPUs == 0 {
		return spec
	}
	r := *spec
	r.Adaptivity &^= job.GPUCount | job.BatchSizes
	r.GPUs = e.Held.GPUs
	return &r
}

// longestText is how long a text of a job may be that outlives the leader. A job whose program
// says more in its Hello says it again at its next start.
const longestText = 4096

// hello returns what a state says that the job's program said; nil: nothing, or nothing that
// can be believed.
func helloOf(s *v1alpha1.JobState) *agentapi.Hello {
	var h agentapi.Hello
	if s.Hello == "" || json.Unmarshal([]byte(s.Hello), &h) != nil || h.Check() != nil {
		return nil
	}
	return &h
}

// milli returns thousandths, no fewer than 0 and no more than an integer holds.
func milli(x float64) int64 {
	return int64(min(max(0, math.Round(1000*x)), math.MaxInt64/2))
}

// State returns what is known of a job. Service goes on growing while it holds GPUs, without
// being written again.
func (e *Job) State() v1alpha1.JobState {
	st := &e.Status
	s := v1alpha1.JobState{
		UID: e.Parsed.UID, Submitted: metav1.NewMicroTime(st.Submitted), Restarts: int32(st.Restarts), Failures: int32(e.Failures),
		Since: metav1.NewMicroTime(st.Since), ServiceMillis: st.Service.Milliseconds(), GPUServiceMillis: st.GPUService.Milliseconds(),
		ProgressMilli: milli(st.Progress), Epoch: int32(st.Epoch),
	}
	if !st.FirstStarted.IsZero() {
		started := metav1.NewMicroTime(st.FirstStarted)
		s.Started = &started
	}
	if e.Agent.Hello != nil {
		if text, err := json.Marshal(e.Agent.Hello); err == nil && len(text) <= longestText {
			s.Hello = string(text)
		}
	}
	return s
}
