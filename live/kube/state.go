package kube

import (
	"context"
	"encoding/json"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/live/agentapi"
)

// save writes what is to outlive this leader into a plan's status. A failure loses some of the
// history of jobs should this leader end now, and no more.
func (w *World) save(ctx context.Context, p *v1alpha1.Plan) {
	w.mu.Lock()
	p.Status.Jobs, w.unsaved = w.states(), false
	w.mu.Unlock()
	if err := w.client.Status().Update(ctx, p); err != nil {
		w.o.Log.Warn("the history of jobs was not saved", "queue", p.Name, "err", err)
	}
}

// states returns what is known of jobs that have not ended.
func (w *World) states() []v1alpha1.JobState {
	var all []v1alpha1.JobState
	most := mostReports / max(1, len(w.order))
	for _, e := range w.order {
		if !e.ended {
			s := e.state()
			s.Reports = e.learned(most)
			all = append(all, s)
		}
	}
	return all
}

// state returns what is known of a job. Service goes on growing while it holds GPUs, without
// being written again.
func (e *entry) state() v1alpha1.JobState {
	st := &e.status
	s := v1alpha1.JobState{
		UID: e.job.UID, Submitted: metav1.NewMicroTime(st.Submitted), Restarts: int32(st.Restarts), Failures: int32(e.failures),
		Since: metav1.NewMicroTime(st.Since), ServiceMillis: st.Service.Milliseconds(), GPUServiceMillis: st.GPUService.Milliseconds(),
		ProgressMilli: milli(st.Progress), Epoch: int32(st.Epoch),
	}
	if !st.FirstStarted.IsZero() {
		started := metav1.NewMicroTime(st.FirstStarted)
		s.Started = &started
	}
	if e.agent.hello != nil {
		if text, err := json.Marshal(e.agent.hello); err == nil && len(text) <= longestText {
			s.Hello = string(text)
		}
	}
	return s
}

// longestText is how long a text of a job may be that outlives the leader. A job whose program
// says more in its Hello says it again at its next start.
const longestText = 4096

// hello returns what a state says that the job's program said; nil: nothing, or nothing that
// can be believed.
func hello(s *v1alpha1.JobState) *agentapi.Hello {
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
