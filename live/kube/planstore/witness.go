package planstore

import (
	"context"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/pods"
)

// The epoch of a queue never falls, even if its Plan is deleted: a former leader could write again. Its
// witnesses are the status of the Queue, where each new epoch is noted, the jobs, which carry the
// epoch of the last write to them, and the clock, as a backup of etcd that is restored sets all others back.

// mostEpoch is the highest epoch that is believed of a job: leaders do not reach it, and it leaves room to
// grow.
const mostEpoch = 1 << 40

// witnessed returns the highest epoch that the queue and its jobs know of; 0: none.
func (s *Store) witnessed(ctx context.Context) (int64, error) {
	var q v1alpha1.Queue
	if err := client.IgnoreNotFound(s.direct.Get(ctx, client.ObjectKey{Name: s.options.Queue.Name}, &q)); err != nil {
		return 0, err
	}
	epoch := q.Status.Epoch
	for _, k := range s.options.Kinds {
		err := pods.ListMetadata(ctx, s.direct, k.GVK(), func(o *metav1.PartialObjectMetadata) {
			if e, err := strconv.ParseInt(o.Annotations[v1alpha1.Epoch], 10, 64); err == nil && e < mostEpoch {
				epoch = max(epoch, e)
			}
		}, client.MatchingLabels{v1alpha1.QueueLabel: s.options.Queue.Name})
		if err != nil {
			return 0, err
		}
	}
	return epoch, nil
}

// clock returns the witness that no backup sets back: the seconds since 1970, by the clock of this machine; 0: it is not asked.
func (s *Store) clock() int64 {
	if s.options.Now == nil {
		return 0
	}
	return min(s.options.Now().Unix(), mostEpoch)
}

// testify notes a new epoch in the status of the Queue, before anything is written by it.
func (s *Store) testify(ctx context.Context, epoch int64) error {
	q := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: s.options.Queue.Name}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"epoch":`+strconv.FormatInt(epoch, 10)+`}}`))
	return client.IgnoreNotFound(s.client.Status().Patch(ctx, q, patch))
}
