package kube

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/job"
)

// Member returns the job and service account of a running pod; ok is false if no job has it.
func (w *Backend) Member(uid string) (m Member, ok bool) {
	w.Lock()
	defer w.Unlock()
	m, ok = w.members[uid]
	return m, ok
}

// Has reports whether job id exists and has not ended.
func (w *Backend) Has(id job.ID) bool {
	w.Lock()
	defer w.Unlock()
	e := w.table.ByID[id]
	return e != nil && !e.Ended()
}

func membersOf(jobs []*jobstate.Job) map[string]Member {
	members := make(map[string]Member)
	for _, e := range jobs {
		for _, p := range e.Live() {
			if p.Status.Phase == corev1.PodRunning && jobstate.Generation(p) > 0 {
				members[string(p.UID)] = Member{Job: e.ID, Namespace: p.Namespace, Name: p.Name, Account: cmp.Or(p.Spec.ServiceAccountName, "default")}
			}
		}
	}
	return members
}
