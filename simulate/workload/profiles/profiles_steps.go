package profiles

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

func readTable(fsys fs.FS, dir string, files map[string][]string, known constants) (table, error) {
	if len(files["placements"]) == 0 {
		return nil, fmt.Errorf("%s: no placements-*.csv, want one for each GPU type", dir)
	}
	var t table
	for _, g := range files["placements"] {
		if !slices.Contains(files["scalability"], g) {
			return nil, fmt.Errorf("%s: no scalability-%s.csv, want one beside placements-%s.csv", dir, g, g)
		}
		b := newBuilder(typeOf(g), known.pipeline)
		for _, kind := range []string{"placements", "scalability"} {
			read := b.readPlacements
			if kind == "scalability" {
				read = b.readScalability
			}
			if err := withFile(fsys, path.Join(dir, kind+"-"+g+".csv"), read); err != nil {
				return nil, err
			}
		}
		t = append(t, b.p)
	}
	slices.SortFunc(t, func(a, b *profile) int { return cmp.Compare(a.gpuType, b.gpuType) })
	return t, nil
}

type builder struct {
	p        *profile
	pipeline *pipeline // nil: data parallel
}

func newBuilder(g cluster.GPUType, pipe *pipeline) *builder {
	b := &builder{p: &profile{gpuType: g, replicaGPUs: 1, shapes: map[shapeKey]series{}}, pipeline: pipe}
	if pipe != nil {
		b.p.replicaGPUs = max(1, pipe.stages[g])
	}
	return b
}

type sample struct {
	point
	id    string // a placement, or nodes and replicas
	nodes int
	gpus  int
	key   shapeKey
	at    row
}

var stepColumns = []string{"local_bsz", "step_time", "sync_time"}

func (b *builder) readPlacements(r io.Reader, name string) error {
	return b.read(r, name, append([]string{"placement"}, stepColumns...), func(at row) (sample, error) {
		digits := at.text("placement")
		key, nodes, gpus, ok := parseShape(digits)
		if !ok {
			return sample{}, at.bad("placement", fmt.Sprintf("1 to %d digits 1-9, the GPUs of each node", keyNodes))
		}
		return sample{id: "placement " + digits, key: key, nodes: nodes, gpus: gpus}, nil
	})
}

func (b *builder) readScalability(r io.Reader, name string) error {
	return b.read(r, name, append([]string{"num_nodes", "num_replicas"}, stepColumns...), func(at row) (sample, error) {
		nodes, gpus, err := spread(at)
		return sample{id: fmt.Sprintf("%d GPUs on %d nodes", gpus, nodes), nodes: nodes, gpus: gpus}, err
	})
}

func spread(at row) (nodes, gpus int, err error) {
	nodes, err = at.count("num_nodes")
	if err != nil {
		return 0, 0, err
	}
	gpus, err = at.count("num_replicas")
	if err == nil && gpus < nodes {
		err = at.bad("num_replicas", fmt.Sprintf("at least num_nodes, %d", nodes))
	}
	return nodes, gpus, err
}

func (b *builder) read(r io.Reader, name string, columns []string, identify func(row) (sample, error)) error {
	groups := map[string][]sample{}
	var order []string
	err := eachRow(r, name, columns, func(at row) error {
		s, err := identify(at)
		if err != nil {
			return err
		}
		if s.gpus%b.p.replicaGPUs != 0 {
			return at.bad(columns[0], fmt.Sprintf("replicas of %d GPUs", b.p.replicaGPUs))
		}
		s.at = row{file: at.file, line: at.line}
		if s.point, err = b.point(at); err != nil {
			return err
		}
		if _, seen := groups[s.id]; !seen {
			order = append(order, s.id)
		}
		groups[s.id] = append(groups[s.id], s)
		return nil
	})
	if err != nil {
		return err
	}
	sizes := localSizes(groups)
	for _, id := range order {
		if err := b.add(groups[id], sizes); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) point(at row) (point, error) {
	local, err := at.count("local_bsz")
	if err != nil {
		return point{}, err
	}
	step, err := at.positive("step_time")
	if err != nil {
		return point{}, err
	}
	sync, err := at.notNegative("sync_time")
	if err != nil {
		return point{}, err
	}
	if b.pipeline == nil && sync > step {
		return point{}, at.bad("sync_time", "at most step_time, "+at.text("step_time"))
	}
	return point{local: float64(local), step: step, sync: sync}, nil
}

func localSizes(groups map[string][]sample) []float64 {
	all := map[float64]bool{}
	for _, g := range groups {
		for i := range g {
			all[g[i].local] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// add turns the samples of one shape into a measurement. Local batch sizes must have no gaps, so that
// interpolation does not cover sizes that failed to run.
func (b *builder) add(group []sample, sizes []float64) error {
	slices.SortStableFunc(group, func(a, b sample) int { return cmp.Compare(a.local, b.local) })
	first := &group[0]
	s, err := seriesOf(group)
	if err != nil {
		return err
	}
	if missing, ok := hole(s, sizes); ok {
		return fmt.Errorf("%s: %s (from line %d): no row of local_bsz %g between others, want all from %g up", first.at.file, first.id, first.at.line, missing, sizes[0])
	}
	if b.pipeline != nil {
		s = b.pipeline.passes(s, b.p.replicaGPUs)
	}
	if first.key != 0 && b.p.shapes[first.key] != nil {
		return fmt.Errorf("%s:%d: %s: a rotation of it was measured before, want one", first.at.file, first.at.line, first.id)
	}
	if first.key != 0 {
		b.p.shapes[first.key] = s
	}
	b.p.spread = append(b.p.spread, measurement{nodes: first.nodes, replicas: first.gpus / b.p.replicaGPUs, series: s})
	return nil
}

func seriesOf(group []sample) (series, error) {
	var s series
	for len(group) > 0 {
		n := 1
		for n < len(group) && group[n].local == group[0].local {
			n++
		}
		same, mean := group[:n], group[0].point
		group = group[n:]
		for i := range same[1:] {
			g := &same[i+1]
			if g.key != 0 && g.point != same[0].point {
				return nil, fmt.Errorf("%s:%d: %s, local_bsz %g: measured before with other times, want one row", g.at.file, g.at.line, g.id, g.local)
			}
			mean.step += (g.step - mean.step) / float64(i+2)
			mean.sync += (g.sync - mean.sync) / float64(i+2)
		}
		s = append(s, mean)
	}
	return s, nil
}

func hole(s series, sizes []float64) (float64, bool) {
	last, i := s[len(s)-1].local, 0
	for _, size := range sizes {
		if size >= last {
			break
		}
		if s[i].local != size {
			return size, true
		}
		i++
	}
	return 0, false
}

type offTableRow struct {
	application string
	gpuType     cluster.GPUType
	key         shapeKey
	point
}

func offTableRows(fsys fs.FS, r io.Reader) ([]offTableRow, error) {
	if r != nil {
		return readOffTable(r, "off-table rows")
	}
	for _, name := range offTableNames {
		if _, err := fs.Stat(fsys, name); err != nil {
			continue
		}
		var rows []offTableRow
		err := withFile(fsys, name, func(r io.Reader, name string) (err error) {
			rows, err = readOffTable(r, name)
			return err
		})
		return rows, err
	}
	return nil, nil
}

func readOffTable(r io.Reader, name string) ([]offTableRow, error) {
	var rows []offTableRow
	columns := append([]string{"application", "gpu_type", "num_nodes", "num_replicas"}, stepColumns...)
	err := eachRow(r, name, columns, func(at row) error {
		nodes, gpus, err := spread(at)
		if err != nil {
			return err
		}
		key := wholeNodes(nodes, gpus)
		if key == 0 {
			return at.bad("num_replicas", fmt.Sprintf("an equal share of at most %d GPUs on each of at most %d nodes", keyGPUs, keyNodes))
		}
		p, err := (&builder{}).point(at)
		rows = append(rows, offTableRow{
			application: at.text("application"), gpuType: typeOf(at.text("gpu_type")), key: key, point: p,
		})
		return err
	})
	return rows, err
}

func (p *profile) addOffTable(application string, rows []offTableRow) error {
	extra := map[shapeKey]series{}
	for i := range rows {
		r := &rows[i]
		if r.application == application && r.gpuType == p.gpuType && p.shapes[r.key] == nil {
			extra[r.key] = append(extra[r.key], r.point)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		s := extra[key]
		slices.SortStableFunc(s, func(a, b point) int { return cmp.Compare(a.local, b.local) })
		s = slices.Compact(s)
		for i := 1; i < len(s); i++ {
			if s[i].local == s[i-1].local {
				return fmt.Errorf("off-table rows: %s, %s, shape %x, local_bsz %g: two rows with different times, want one", application, p.gpuType, uint64(key), s[i].local)
			}
		}
		p.shapes[key] = s
	}
	return nil
}
