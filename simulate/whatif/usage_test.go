package whatif

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// TestUsage: an owner uses what it said last, or what it keeps for itself if that is more.
func TestUsage(t *testing.T) {
	var u usage
	u.changed(0, nil)
	u.changed(time.Hour, []cluster.Loan{{Nodes: 10, Lent: 4, Spare: 2, Load: 0.1}})
	u.changed(2*time.Hour, []cluster.Loan{{Nodes: 10, Lent: 4, Reclaim: 1, Load: 0.9}})
	for at, want := range map[time.Duration]float64{0: 1, time.Hour: 0.38, 90 * time.Minute: 0.38, 2 * time.Hour: 0.9, 5 * time.Hour: 0.9} {
		if got := u.of(at); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("at %v the owner uses %v, want %v", at, got, want)
		}
	}
}
