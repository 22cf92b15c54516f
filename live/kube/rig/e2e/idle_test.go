package e2e

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// rests: where one job runs and another waits, and nothing happens, ten rounds write nothing.
func rests(b *bench, _ *rig.Process) {
	b.create(Queue("train", v1alpha1.Resize, "fifo"))
	defer b.remove("train")
	b.create(Job("runs", "train", 2, 8, nil))
	b.runs("runs", 2)
	b.create(Job("waits", "train", 2, 8, nil))
	Until(b.Context(), b, within, "the plan knows both", func() error { return planned(b.T, b.k, "waits") })
	etcd := b.Etcd(b)
	Until(b.Context(), b, within, "ten rounds write nothing", func() error {
		from := revision(b.T, etcd)
		time.Sleep(10 * time.Second)
		to := revision(b.T, etcd)
		a := audit.New()
		if err := audit.Replay(b.Context(), etcd, a, from+1, to); err != nil {
			return err
		}
		for _, name := range []string{"oxgang", "oxgang-scheduler"} {
			if found := a.Log.Quiet(name, from, to); len(found) > 0 {
				return errNot("%v; %v", found, a.Log.Between(from, to))
			}
		}
		return nil
	})
}

// revision returns that of the last write.
func revision(t *testing.T, etcd *clientv3.Client) int64 {
	t.Helper()
	answer, err := etcd.Get(t.Context(), audit.Root, clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return answer.Header.Revision
}
