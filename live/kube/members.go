package kube

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// Member returns the job of a pod that is a living member of one, by the pod's uid; a pod that is
// gone, or that has ended, is none.
func (w *World) Member(uid string) (id job.ID, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, ok = w.members[uid]
	return id, ok
}

// Has reports whether a job is one of the world's that has not ended.
func (w *World) Has(id job.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.table.ByID[id]
	return e != nil && !e.Ended
}

// membersOf returns the job of each living pod, by uid of the pod.
func membersOf(jobs []*jobstate.Job) map[string]job.ID {
	members := make(map[string]job.ID)
	for _, e := range jobs {
		for _, p := range e.Live() {
			if p.Status.Phase == corev1.PodRunning && jobstate.Generation(p) > 0 {
				members[string(p.UID)] = e.ID()
			}
		}
	}
	return members
}
