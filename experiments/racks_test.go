package experiments

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// gangs counts the placements of jobs on several nodes, of those that a rack, or an NVLink domain, could hold.
type gangs struct {
	of       func(*cluster.Node) string // the rack or domain of a node
	most     int                        // nodes of the smallest
	on       map[job.ID]cluster.Placement
	all      int
	together int // in one
}

func (g *gangs) Event(time.Time, scheduler.Event) {}

func (g *gangs) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	for i, j := range s.Jobs {
		now := p.Jobs[i].Placement
		if len(now) > 1 && len(now) <= g.most && !now.SameGPUs(g.on[j.ID]) {
			g.all++
			if len(g.groups(s.Cluster, now)) == 1 {
				g.together++
			}
		}
		g.on[j.ID] = now
	}
}

// groups returns the racks or domains of a placement.
func (g *gangs) groups(c *cluster.Cluster, p cluster.Placement) map[string]bool {
	all := make(map[string]bool)
	for _, share := range p {
		at, _ := c.Index(share.Node)
		all[g.of(&c.Nodes()[at])] = true
	}
	return all
}

func rackOf(n *cluster.Node) string   { return n.Rack }
func domainOf(n *cluster.Node) string { return n.NVLinkDomain }

// racked returns a cluster with its nodes in so many racks, neighbours in different ones.
func racked(t *testing.T, c *cluster.Cluster, racks int) *cluster.Cluster {
	t.Helper()
	nodes := slices.Clone(c.Nodes())
	for i := range nodes {
		nodes[i].Rack = fmt.Sprintf("rack-%d", i%racks)
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestGangs_are_in_one_rack: of 100 nodes in 8 racks under load, at least 95 % of the gangs that a
// rack could hold start in one, over three seeds. Of one seed it may be 94 %: four racks have 13 nodes, and where all
// gangs are on 2, 4 or 8, a full cluster has one node left over in each of these.
func TestGangs_are_in_one_rack(t *testing.T) {
	for _, kind := range []struct {
		name string
		jobs int
		span time.Duration
		load float64
	}{{"newtrace-like", 600, 6 * time.Hour, 0}, {"fixed-duration", 1000, 0, 0.9}} {
		for _, perNode := range []int{4, 8} {
			t.Run(fmt.Sprintf("%s/%d GPUs a node", kind.name, perNode), func(t *testing.T) {
				all, together := 0, 0
				for seed := range uint64(3) {
					c := config.Default()
					c.Cluster, c.Sim.Seed, c.OnBadRow = fmt.Sprintf("a100:100x%d", perNode), seed+1, "skip"
					c.Generate.Kind, c.Generate.Jobs, c.Generate.Span, c.Generate.Load = kind.name, kind.jobs, kind.span, kind.load
					in, err := Load(c, Files{})
					if err != nil {
						t.Fatal(err)
					}
					in.Cluster = racked(t, in.Cluster, 8)
					g := &gangs{of: rackOf, most: 12, on: make(map[job.ID]cluster.Placement)}
					run, err := Simulate(t.Context(), c, in, "oxgang", g)
					if err != nil {
						t.Fatal(err)
					}
					t.Logf("seed %d: %d of %d gangs in one rack, mean JCT %.4g h, %.3g restarts a job", seed+1, g.together, g.all, run.Result.Summary.MeanJCT/3600, run.Result.Summary.RestartsPerJob)
					all, together = all+g.all, together+g.together
				}
				if all < 60 || together*100 < all*95 {
					t.Errorf("%d of %d gangs are in one rack, want at least 60 gangs and 95 %%", together, all)
				}
			})
		}
	}
}

// TestGangs_are_in_one_domain: of 96 nodes in racks of twelve and NVLink domains of four under load, nearly all
// gangs that a domain could hold start in one, and those that only a rack could hold in one rack.
func TestGangs_are_in_one_domain(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed %d", seed+1), func(t *testing.T) {
			c := config.Default()
			c.Cluster, c.Sim.Seed, c.OnBadRow = "a100:96x4/rack@12/nvlink@4", seed+1, "skip"
			c.Generate.Kind, c.Generate.Jobs, c.Generate.Span = "newtrace-like", 600, 6*time.Hour
			in, err := Load(c, Files{})
			if err != nil {
				t.Fatal(err)
			}
			domains := &gangs{of: domainOf, most: 4, on: make(map[job.ID]cluster.Placement)}
			racks := &gangs{of: rackOf, most: 12, on: make(map[job.ID]cluster.Placement)}
			for _, placer := range []string{"submesh", "racks"} {
				c.Placer = placer
				*domains, *racks = gangs{of: domainOf, most: 4, on: map[job.ID]cluster.Placement{}}, gangs{of: rackOf, most: 12, on: map[job.ID]cluster.Placement{}}
				run, err := Simulate(t.Context(), c, in, "oxgang", domains, racks)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s: %d of %d gangs in one domain, %d of %d in one rack, mean JCT %.4g h, %.3g restarts a job", placer,
					domains.together, domains.all, racks.together, racks.all, run.Result.Summary.MeanJCT/3600, run.Result.Summary.RestartsPerJob)
			}
			if domains.all < 20 || domains.together*100 < domains.all*90 || racks.together*100 < racks.all*95 {
				t.Error("want at least 20 gangs, 90 % of them in one domain, and 95 % of all in one rack")
			}
		})
	}
}
