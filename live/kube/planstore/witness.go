package planstore

import (
	"context"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

// The epoch of a queue must never fall, or a former leader could write again. It is also in the Queue's status and on
// the jobs, in case the Plan was deleted. After a restore of etcd only the clock is reliable.

// mostEpoch bounds epochs read from jobs, which may be false.
const mostEpoch = 1 << 40

func (s *Store) highestEpoch(ctx context.Context) (int64, error) {
	var q v1alpha1.Queue
	if err := client.IgnoreNotFound(s.direct.Get(ctx, client.ObjectKey{Name: s.options.Queue.Name}, &q)); err != nil {
		return 0, err
	}
	epoch := q.Status.Epoch
	for _, k := range s.options.Kinds {
		err := inventory.ListMetadata(ctx, s.direct, k.GVK(), func(o *metav1.PartialObjectMetadata) {
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

func (s *Store) clock() int64 {
	if s.options.Now == nil {
		return 0
	}
	return min(s.options.Now().Unix(), mostEpoch)
}

// The Queue's status gets a new epoch before any other write with it.
func (s *Store) recordEpoch(ctx context.Context, epoch int64) error {
	q := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: s.options.Queue.Name}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"epoch":`+strconv.FormatInt(epoch, 10)+`}}`))
	return client.IgnoreNotFound(s.client.Status().Patch(ctx, q, patch))
}
