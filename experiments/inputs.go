// Package experiments runs what a configuration describes, and compares what
// comes out with what was published.
package experiments

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/sim"
	"github.com/oxgang/oxgang/trace"
	"github.com/oxgang/oxgang/workload"
)

// Files is the world outside: what a program may open.
type Files struct {
	Open func(name string) (io.ReadCloser, error)
	Dir  func(name string) fs.FS
}

// Inputs are the ground truth of a run. Runs may share them; none changes them.
type Inputs struct {
	Cluster  *cluster.Cluster
	Catalog  workload.Catalog
	Arrivals []workload.Arrival // complete, by time, then ID
	Read     *trace.Summary     // what the trace's reader dropped or invented; nil if generated
	Skipped  []error            // jobs that nothing could ever run, if bad rows are skipped
}

// Load reads what a configuration names: cluster, profiles, trace. It returns
// an error that names file, line, column and value of what is wrong with them.
func Load(c *config.Config, files Files) (*Inputs, error) {
	in := &Inputs{}
	var err error
	if in.Cluster, err = c.BuildCluster(); err != nil {
		return nil, err
	}
	if in.Catalog, err = loadCatalog(c, files); err != nil {
		return nil, err
	}
	if in.Arrivals, err = in.loadArrivals(c, files); err != nil {
		return nil, err
	}
	if err := in.complete(c); err != nil {
		return nil, err
	}
	return in, nil
}

func loadCatalog(c *config.Config, files Files) (workload.Catalog, error) {
	catalog := workload.Default()
	if c.Profiles != "" {
		// The off-table rows of the shared data lie beside the profiles.
		off, err := files.Open(c.Profiles + "/../derived/offtable_wholenode.csv")
		var extra io.Reader
		if err == nil {
			defer off.Close()
			extra = off
		}
		if catalog, err = workload.ReadProfiles(files.Dir(c.Profiles), extra); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Profiles, err)
		}
	}
	if c.Public || c.Jobs.Slowdown {
		catalog = catalog.AsPublished()
	}
	return catalog, nil
}

func (in *Inputs) loadArrivals(c *config.Config, files Files) ([]workload.Arrival, error) {
	if c.Trace == "" {
		return generate(c, in.Cluster)
	}
	f, err := files.Open(c.Trace)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	onBad, err := trace.ParseBadRow(c.OnBadRow)
	if err != nil {
		return nil, err
	}
	in.Read = new(trace.Summary)
	seq, err := trace.Open(f, c.Format, trace.Options{File: c.Trace, OnBadRow: onBad, Limit: c.Limit, Summary: in.Read})
	if err != nil {
		return nil, err
	}
	return trace.Sorted(seq)
}

func generate(c *config.Config, on *cluster.Cluster) ([]workload.Arrival, error) {
	o := workload.DefaultGenerateOptions(c.Generate.Kind)
	o.Seed = c.Sim.Seed
	o.Jobs = cmp.Or(c.Generate.Jobs, o.Jobs)
	o.Span = cmp.Or(c.Generate.Span, o.Span)
	if o.GPUs > 0 {
		o.GPUs, o.Load = on.GPUs(), cmp.Or(c.Generate.Load, o.Load)
	}
	return workload.Generate(o)
}

// complete fills in every arrival from its application, and adapts it. A job that no part of
// the cluster could ever run is an error, or is skipped as a bad row would be.
func (in *Inputs) complete(c *config.Config) error {
	kept := in.Arrivals[:0]
	for i := range in.Arrivals {
		a := in.Arrivals[i]
		err := in.Catalog.Complete(&a)
		if err == nil {
			adapt(c, &a.Spec)
			err = sim.Fits(in.Cluster, &a.Spec)
		}
		switch {
		case err == nil:
			kept = append(kept, a)
		case c.OnBadRow == "skip":
			in.Skipped = append(in.Skipped, err)
		default:
			return fmt.Errorf("%s: %w", traceName(c), err)
		}
	}
	in.Arrivals = kept
	return nil
}

func traceName(c *config.Config) string {
	if c.Trace == "" {
		return "generated trace"
	}
	return c.Trace
}

// adapt makes a job rigid or strong-scaling by a draw of its own, so that a
// larger share of such jobs contains a smaller one. Under the public rules the
// submitted batch size is the largest that the policy counts with.
func adapt(c *config.Config, spec *job.Spec) {
	if spec.Adaptivity == job.Adaptive && c.Jobs.Rigid+c.Jobs.StrongScaling > 0 {
		switch u := rng.Stream(c.Sim.Seed, "adaptivity/"+string(spec.ID)).Float64(); {
		case u < c.Jobs.Rigid:
			spec.Adaptivity = job.Rigid
		case u < c.Jobs.Rigid+c.Jobs.StrongScaling:
			spec.Adaptivity = job.StrongScaling
		}
	}
	if c.Public && spec.Adaptivity.Has(job.BatchSizes) && spec.BatchSize > 0 {
		spec.Batch.Max = max(spec.BatchSize, spec.Batch.Init)
	}
	if c.Jobs.MaxGPUs > 0 && spec.Adaptivity.Has(job.GPUCount) {
		spec.MaxGPUs = c.Jobs.MaxGPUs
	}
}
