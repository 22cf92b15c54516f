package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/oxgang/oxgang/internal/printable"
)

type dataset struct {
	Name    string    `json:"name"` // of the plot, and of its file with ".csv"
	Columns []*series `json:"columns"`
}

type series struct {
	Name   string    `json:"name"` // with its unit
	Words  []string  `json:"words,omitempty"`
	Values []float64 `json:"values"`
	index  map[string]int
}

func newDataset(name string, columns ...string) *dataset {
	d := &dataset{Name: name}
	for _, c := range columns {
		s := &series{Name: c, Values: []float64{}}
		if c[0] == '@' {
			s.Name, s.index = c[1:], map[string]int{}
		}
		d.Columns = append(d.Columns, s)
	}
	return d
}

func (d *dataset) add(words []string, numbers ...float64) {
	for _, s := range d.Columns {
		if s.index == nil {
			s.Values = append(s.Values, tidy(numbers[0]))
			numbers = numbers[1:]
			continue
		}
		i, ok := s.index[words[0]]
		if !ok {
			i = len(s.Words)
			s.index[words[0]] = i
			s.Words = append(s.Words, words[0])
		}
		s.Values = append(s.Values, float64(i))
		words = words[1:]
	}
}

func (d *dataset) rows() int { return len(d.Columns[0].Values) }

func tidy(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	if v == math.Trunc(v) || v == 0 {
		return v
	}
	digits := max(3, 5-int(math.Floor(math.Log10(math.Abs(v)))))
	unit := math.Pow(10, float64(min(digits, 300)))
	if r := math.Round(v*unit) / unit; r != 0 && !math.IsInf(r, 0) && !math.IsNaN(r) {
		return r
	}
	return v
}

func (d *dataset) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	row := make([]string, len(d.Columns))
	for c, s := range d.Columns {
		row[c] = s.Name
	}
	if err := out.Write(row); err != nil {
		return err
	}
	for i := range d.rows() {
		for c, s := range d.Columns {
			if s.index != nil {
				row[c] = printable.Cell(s.Words[int(s.Values[i])])
			} else {
				row[c] = strconv.FormatFloat(s.Values[i], 'g', -1, 64)
			}
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// CSVs writes all jobs and curves of the runs as CSV files, which create opens. Failed runs have no rows.
func CSVs(create func(name string) (io.WriteCloser, error), runs []Run) error {
	for _, d := range datasets(ended(runs), unlimited) {
		if err := writeFile(create, d); err != nil {
			return fmt.Errorf("report: %s.csv: %w", d.Name, err)
		}
	}
	return nil
}

func writeFile(create func(string) (io.WriteCloser, error), d *dataset) error {
	f, err := create(d.Name + ".csv")
	if err != nil {
		return err
	}
	if err := d.writeCSV(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
