package jobstate

import (
	"encoding/json"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// An agent is what the program of a job has reported so far.
type agent struct {
	Reporting bool // it has sent a message, in this or an earlier start
	Hello     *agentapi.Hello
	// LocalMax is the largest local batch size by GPU type.
	LocalMax map[cluster.GPUType]int
}

// SetHello stores h, the first message after a start. Its LocalMax counts for the current GPU type only.
func (a *agent) SetHello(h *agentapi.Hello, e *Job) {
	a.Hello = h
	if h != nil && int64(h.Generation) == e.Held.Generation && e.Held.GPUs > 0 {
		a.LocalMax = h.AddLocalMax(a.LocalMax, e.Held.GPUType)
	}
}

// Described returns spec with the values that the job's program has reported.
func (a *agent) Described(spec *job.Spec, e *Job) *job.Spec {
	if a.Hello == nil {
		return spec
	}
	said := a.Hello.Described(spec, e.Held.GPUType, e.Starts.Value())
	said.Batch.LocalMax = a.LocalMax
	return said
}

const longestText = 4096

func helloOf(s *v1alpha1.JobState) *agentapi.Hello {
	var h agentapi.Hello
	if s.Hello == "" || json.Unmarshal([]byte(s.Hello), &h) != nil || h.Check() != nil {
		return nil
	}
	return &h
}

func milli(x float64) int64 {
	return int64(min(max(0, math.Round(1000*x)), math.MaxInt64/2))
}

// State returns what the next leader needs to restore the job.
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
