package lab

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/lab/casestudy"
	"github.com/oxgang/oxgang/lab/experiments"
)

var matrixFormats = []string{"table", "json", "yaml", "csv"}

type matrixEntry struct {
	believed, truth float64 // samples per second and GPU
	relative        float64 // to the estimated rate with the GPU-proportional share
	heat            float64
	measured        bool
}

func entries(m *experiments.Matrix) [][]matrixEntry {
	most := 0.0
	for _, row := range m.Believed {
		most = max(most, slices.Max(row))
	}
	all := make([][]matrixEntry, len(m.CPUs))
	for i, row := range m.Believed {
		for k, b := range row {
			e := matrixEntry{believed: b, truth: m.True[i][k], relative: b / m.AtShare, heat: b / most}
			e.measured = k == len(row)-1 && slices.Contains(m.Measured, m.CPUs[i])
			all[i] = append(all[i], e)
		}
	}
	return all
}

func (e *matrixEntry) text() string {
	switch {
	case e.believed == 0:
		return "-"
	case math.IsInf(e.relative, 1):
		return strconv.FormatFloat(e.believed, 'f', 2, 64)
	}
	return strconv.FormatFloat(e.relative, 'f', 2, 64)
}

func heading(m *experiments.Matrix) string {
	return fmt.Sprintf("%s on %s: measured %d of %d CPU counts in %v, largest error %.1f %%",
		m.Application, m.GPUType, len(m.Measured), m.Counts, m.Took.Round(time.Second), 100*m.Worst)
}

func unit(m *experiments.Matrix) string {
	if m.AtShare == 0 {
		return fmt.Sprintf("samples/s and GPU; nothing runs with the share of %g CPUs and %s GB", m.Share.CPUs, gigabytes(m.Share.Memory))
	}
	return fmt.Sprintf("1 is %.3g samples/s and GPU, with the share of %g CPUs and %s GB", m.AtShare, m.Share.CPUs, gigabytes(m.Share.Memory))
}

func gigabytes(bytes int64) string {
	return strconv.FormatFloat(math.Round(float64(bytes)/1e8)/10, 'f', -1, 64)
}

var shades = []string{"  ", "░░", "▒▒", "▓▓", "██"}

func shade(heat float64) string { return shades[int(math.Ceil(heat*float64(len(shades)-1)))] }

func writeMatrixTables(w io.Writer, all []experiments.Matrix) error {
	for i := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := writeMatrixTable(w, &all[i]); err != nil {
			return fmt.Errorf("table: %w", err)
		}
	}
	return nil
}

func writeMatrixTable(w io.Writer, m *experiments.Matrix) error {
	fmt.Fprintf(w, "%s\n%s\n\n", heading(m), unit(m))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "CPUs \\ GB\t")
	for _, memory := range m.Memory {
		fmt.Fprintf(t, "%s \t", gigabytes(memory))
	}
	fmt.Fprintln(t, "  speed")
	above := ""
	for i, row := range entries(m) {
		line, shown := matrixLine(row)
		if numbers := strings.ReplaceAll(line, "*", " "); numbers != line || numbers != above {
			fmt.Fprintf(t, "%.4g\t%s  %s\n", m.CPUs[i], line, shown)
			above = numbers
		}
	}
	return t.Flush()
}

func matrixLine(row []matrixEntry) (numbers, shown string) {
	var n, s strings.Builder
	for _, e := range row {
		mark := " "
		if e.measured {
			mark = "*"
		}
		fmt.Fprintf(&n, "%s%s\t", e.text(), mark)
		s.WriteString(shade(e.heat))
	}
	return n.String(), strings.TrimRight(s.String(), " ")
}

type matrixRecord struct {
	Application string      `json:"application"`
	GPUType     string      `json:"gpu_type"`
	ShareCPUs   float64     `json:"share_cpus"`
	ShareGB     float64     `json:"share_memory_gb"`
	CPUs        []float64   `json:"cpus_per_gpu"`
	Memory      []float64   `json:"memory_gb_per_gpu"`
	Believed    [][]float64 `json:"believed_samples_per_s"`
	True        [][]float64 `json:"true_samples_per_s"`
	AtShare     float64     `json:"believed_at_share_samples_per_s"`
	Measured    []float64   `json:"measured_cpus_per_gpu"`
	Took        float64     `json:"profiling_s"`
	Worst       float64     `json:"worst_relative_error"`
}

func writeMatrix(w io.Writer, format string, all []experiments.Matrix) error {
	records := []matrixRecord{}
	for i := range all {
		m := &all[i]
		r := matrixRecord{
			m.Application, string(m.GPUType), m.Share.CPUs, float64(m.Share.Memory) / 1e9, m.CPUs, nil, m.Believed, m.True, m.AtShare, m.Measured, m.Took.Seconds(), m.Worst,
		}
		for _, bytes := range m.Memory {
			r.Memory = append(r.Memory, float64(bytes)/1e9)
		}
		records = append(records, r)
	}
	return cli.Write(w, format, records)
}

func writeMatrixCSV(w io.Writer, all []experiments.Matrix) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{ // Flush keeps the error
		"application", "gpu_type", "cpus_per_gpu", "memory_gb_per_gpu", "believed_samples_per_s", "true_samples_per_s", "relative", "measured",
	})
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', 10, 64) }
	for i := range all {
		m := &all[i]
		for k, row := range entries(m) {
			for n, e := range row {
				_ = c.Write([]string{
					printable.Cell(m.Application), printable.Cell(string(m.GPUType)), f(m.CPUs[k]), f(float64(m.Memory[n]) / 1e9), f(e.believed), f(e.truth), f(e.relative), strconv.FormatBool(e.measured),
				})
			}
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	return nil
}

func matrixPage(cluster string, all []experiments.Matrix) *casestudy.Page {
	p := &casestudy.Page{
		Title: "Sensitivity to CPUs and memory on " + cluster,
		Intro: "Speed by CPUs and memory per GPU. Framed entries are measured, with all the memory of a node; the others are computed.",
	}
	for i := range all {
		m := &all[i]
		h := casestudy.HeatMap{Title: heading(m), Intro: unit(m), Down: "CPUs", Across: "GB per GPU"}
		for _, memory := range m.Memory {
			h.Columns = append(h.Columns, gigabytes(memory))
		}
		for k, row := range entries(m) {
			r := casestudy.HeatRow{Name: fmt.Sprintf("%.4g", m.CPUs[k])}
			for _, e := range row {
				r.Cells = append(r.Cells, casestudy.HeatCell{Text: e.text(), Heat: e.heat, Marked: e.measured})
			}
			h.Rows = append(h.Rows, r)
		}
		p.HeatMaps = append(p.HeatMaps, h)
	}
	return p
}
