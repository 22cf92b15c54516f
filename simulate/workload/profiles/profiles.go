// Package profiles has catalogs of applications with measured or fitted speeds on each GPU type.
package profiles

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"

	"github.com/oxgang/oxgang/simulate/workload"
)

// gpuNames maps GPU types of the public profiles to Oxgang's; other names stay. Source: Sia simulator.
var gpuNames = map[string]cluster.GPUType{
	"aws":     "t4",   // g4dn.12xlarge
	"rtx":     "rtx",  // RTX 2080Ti
	"dgx-ext": "a100", // DGX-A100, all batch sizes
	"quad":    "quad", // Quadro RTX 6000
	"azure":   "v100", // ND40rs_v2
}

// skipped is the same machine as dgx-ext without some batch sizes.
const skipped = "dgx"

func typeOf(name string) cluster.GPUType {
	if t, ok := gpuNames[name]; ok {
		return t
	}
	return cluster.GPUType(name)
}

var offTableNames = []string{"offtable_wholenode.csv", "derived/offtable_wholenode.csv"}

// ReadProfiles reads measured applications: one folder each in the root of fsys, with, for each GPU type G
// and total batch size B,
//
//	placements-G.csv   placement,local_bsz,step_time,sync_time
//	scalability-G.csv  num_nodes,num_replicas,local_bsz,step_time,sync_time
//	validation-B.csv   progress,grad_sqr,grad_var: one row an epoch
//
// Times are in seconds, progress in iterations at the smallest B. A placement lists the GPUs of each node
// ("244"). Other files and folders are ignored.
//
// offTable has step times of whole nodes beyond the placements (columns application, gpu_type and all of a
// scalability file). If it is nil, offtable_wholenode.csv in the root of fsys or in its folder derived is
// used, if present.
//
// Rows may be in any order; equal rows count once. Rows of a scalability file that differ only in times
// are averaged, because several placements have these GPUs and nodes; elsewhere they are an error.
func ReadProfiles(fsys fs.FS, offTable io.Reader) (workload.Catalog, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	extra, err := offTableRows(fsys, offTable)
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	c, errs := workload.Catalog{}, []error(nil)
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		app, err := readApplication(fsys, e.Name(), extra)
		if err != nil {
			errs = append(errs, fmt.Errorf("profiles: %w", err))
		} else if app != nil {
			c[app.Name] = app
		}
	}
	if len(c) == 0 && errs == nil {
		return nil, errors.New("profiles: no application, want folders with placements-*.csv, scalability-*.csv and validation-*.csv")
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	return c, nil
}

func readApplication(fsys fs.FS, dir string, extra []offTableRow) (*workload.Application, error) {
	files, err := profileFiles(fsys, dir)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	known := constantsOf(dir)
	curve, err := readCurve(fsys, dir, files["validation"])
	if err != nil {
		return nil, err
	}
	t, err := readTable(fsys, dir, files, known)
	if err != nil {
		return nil, err
	}
	for _, p := range t {
		if err := p.addOffTable(dir, extra); err != nil {
			return nil, err
		}
		p.index()
	}
	app := &workload.Application{Name: dir, RestartDelay: known.delay, StatedDelay: known.delay, Slowdown: 1, Speed: t}
	app.Batch, err = limits(t, dir, curve, known)
	app.Curve = curve.referred(app.Batch.Init)
	if known.pipeline != nil {
		app.GPUsPerReplica, app.MicroBatches = maps.Clone(known.pipeline.stages), known.pipeline.microBatches
	}
	return app, err
}

func profileFiles(fsys fs.FS, dir string) (map[string][]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]string{}
	for _, e := range entries {
		name, isCSV := strings.CutSuffix(e.Name(), ".csv")
		kind, rest, found := strings.Cut(name, "-")
		if !isCSV || !found || !slices.Contains([]string{"placements", "scalability", "validation"}, kind) || rest == skipped {
			continue
		}
		files[kind] = append(files[kind], rest)
	}
	return files, nil
}

func withFile(fsys fs.FS, name string, read func(r io.Reader, name string) error) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(read(f, name), f.Close())
}

func readCurve(fsys fs.FS, dir string, sizes []string) (*measuredCurve, error) {
	if len(sizes) == 0 {
		return nil, fmt.Errorf("%s: no validation-*.csv, want one for each total batch size", dir)
	}
	c := &measuredCurve{}
	for _, size := range sizes {
		name := path.Join(dir, "validation-"+size+".csv")
		b, err := strconv.Atoi(size)
		if err != nil || b < 1 || b > mostCount {
			return nil, fmt.Errorf("%s: batch size %q, want a whole number in 1..%d", name, size, mostCount)
		}
		run := validation{name: name, batch: b}
		if err := withFile(fsys, name, run.read); err != nil {
			return nil, err
		}
		c.runs = append(c.runs, run)
	}
	slices.SortFunc(c.runs, func(a, b validation) int { return cmp.Compare(a.batch, b.batch) })
	return c, c.check()
}

func limits(t table, dir string, c *measuredCurve, known constants) (job.BatchLimits, error) {
	l := job.BatchLimits{
		Init:     c.runs[0].batch,
		Max:      c.runs[len(c.runs)-1].batch,
		LocalMax: map[cluster.GPUType]int{},
	}
	for _, p := range t {
		least, most := math.MaxInt, 0
		for i := range p.spread {
			low, high := p.spread[i].series.bounds()
			least, most = min(least, low), max(most, high)
		}
		if l.LocalMin == 0 {
			l.LocalMin = least
		}
		if l.LocalMin != least {
			return l, fmt.Errorf("%s: GPU type %s: least local_bsz is %d, want %d as on %s", dir, p.gpuType, least, l.LocalMin, t[0].gpuType)
		}
		l.LocalMax[p.gpuType] = most
	}
	maps.Copy(l.LocalMax, known.localMax)
	if known.pipeline != nil {
		l.Init = known.pipeline.microBatches
	}
	return l, nil
}
