package run

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// profiledShare is one GPU with the GPU-proportional share of Synergy's traces. Source: Synergy
// §5.1.
var profiledShare = cluster.Allocation{
	Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}, CPUs: 3, Memory: 62_500_000_000,
}

// stretches returns a factor on the samples of each application that may wait for input. It makes jobs last as
// long with the GPU-proportional share here as with the trace's. The speed with the trace's share is from the
// embedded catalog, or else from catalog. Source: public Synergy simulator, which draws durations and has
// iteration times for each ratio of CPUs to GPUs.
func stretches(catalog workload.Catalog, cl *cluster.Cluster) map[string]float64 {
	factors, embedded := make(map[string]float64), profiles.Default()
	for name, app := range catalog {
		if app.Sensitivity == nil {
			continue
		}
		here, share := proportional(app, cl)
		written := share
		if base := embedded[name]; base != nil && base.Sensitivity != nil {
			app, written = base, profiledShare.Configuration
		}
		there := profiledShare
		there.Configuration = written
		if then := speed(app, there); here > 0 && then > 0 {
			factors[name] = here / then
		}
	}
	return factors
}

// proportional returns the speed of one GPU of the first suitable type with its proportional share; 0 if
// none.
func proportional(app *workload.Application, cl *cluster.Cluster) (float64, cluster.Configuration) {
	for _, t := range cl.Types() {
		one := cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: t.Type}
		if x := speed(app, t.Proportional(one)); x > 0 {
			return x, one
		}
	}
	return 0, cluster.Configuration{}
}

func speed(app *workload.Application, a cluster.Allocation) float64 {
	return app.Fed(a, job.BatchSize{Local: 1})
}
