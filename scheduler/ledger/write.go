package ledger

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/oxgang/oxgang/internal/printable"
)

// Write prints the statement in GPU-hours: its rows, the total, and the use of each pool. It omits empty columns.
func (s *Statement) Write(w io.Writer) error {
	if err := writeTable(w, s.rows()); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := writeTable(w, s.pools()); err != nil {
		return err
	}
	for _, line := range s.legend() {
		fmt.Fprintln(w, line)
	}
	return nil
}

func (s *Statement) legend() []string {
	lines := []string{"HELD: GPU-hours that jobs held, without profiling; FREE: GPU-hours that no job held"}
	if !s.Total.Idle.IsZero() {
		lines = append(lines, "IDLE: from the end of a job to the end of its round, when its GPUs become free")
	}
	if !s.Total.Unused.IsZero() {
		lines = append(lines, "UNUSED: GPU-hours that jobs held while the GPUs computed nothing, as measured")
	}
	if !s.Total.Lost.IsZero() {
		lines = append(lines, "LOST WORK: GPU-hours that other jobs have to repeat because they were stopped for these jobs; not part of GPU-H")
	}
	if !s.Total.Priced.IsZero() {
		lines = append(lines, "PRICED: GPU-hours in rounds with prices; COST: what they cost at these prices, in the unit of the policy's objective")
	}
	return lines
}

// WriteCSV writes the rows, without the total, as CSV in GPU-seconds with all digits.
func (s *Statement) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := append(slices.Clone(s.By), "jobs", "gpu_seconds", "gpu_seconds_share", "owned_gpu_seconds", "loaned_gpu_seconds",
		"rented_gpu_seconds", "profiling_gpu_seconds", "idle_gpu_seconds", "priced_gpu_seconds", "paid", "paid_share", "rent", "unused_gpu_seconds", "lost_gpu_seconds")
	all := [][]string{head}
	for i := range s.Rows {
		r := &s.Rows[i]
		cells := make([]string, 0, len(head))
		for _, of := range r.Of {
			cells = append(cells, printable.Cell(of))
		}
		cells = append(cells, strconv.Itoa(r.Jobs), r.Used.String(), strconv.FormatFloat(r.UsedShare, 'g', -1, 64))
		for _, t := range []GPUTime{r.Owned, r.Loaned, r.Rented, r.Profiling, r.Idle, r.Priced} {
			cells = append(cells, t.String())
		}
		for _, v := range []float64{r.Paid, r.PaidShare, r.Rent} {
			cells = append(cells, strconv.FormatFloat(v, 'g', -1, 64))
		}
		cells = append(cells, r.Unused.String(), r.Lost.String())
		all = append(all, cells)
	}
	return out.WriteAll(all)
}

type column struct {
	head  string
	cells []string
	some  bool
}

func (c *column) put(cell string, some bool) {
	c.cells = append(c.cells, cell)
	c.some = c.some || some
}

func (c *column) hours(t GPUTime)  { c.put(strconv.FormatFloat(t.Hours(), 'f', 2, 64), !t.IsZero()) }
func (c *column) count(n int)      { c.put(strconv.Itoa(n), n > 0) }
func (c *column) number(v float64) { c.put(strconv.FormatFloat(v, 'f', 2, 64), v != 0) }

func (s *Statement) rows() []column {
	columns, sums := s.names(), []column{
		{head: "JOBS"},
		{head: "GPU-H", some: true},
		{head: "GPU-H (%)", some: true},
		{head: "OWNED"},
		{head: "LOANED"},
		{head: "RENTED"},
		{head: "PROFILING"},
		{head: "IDLE"},
		{head: "PRICED"},
		{head: "COST"},
		{head: "COST (%)"},
		{head: "RENT"},
		{head: "UNUSED"},
		{head: "LOST WORK"},
	}
	for _, r := range append(slices.Clone(s.Rows), s.Total) {
		sums[0].count(r.Jobs)
		sums[1].hours(r.Used)
		sums[2].number(100 * r.UsedShare)
		for k, t := range []GPUTime{r.Owned, r.Loaned, r.Rented, r.Profiling, r.Idle, r.Priced} {
			sums[3+k].hours(t)
		}
		for k, v := range []float64{r.Paid, 100 * r.PaidShare, r.Rent} {
			sums[9+k].number(v)
		}
		sums[12].hours(r.Unused)
		sums[13].hours(r.Lost)
	}
	return append(columns, sums...)
}

func (s *Statement) names() []column {
	var columns []column
	for k, name := range s.By {
		c := column{head: strings.ToUpper(name)}
		for i := range s.Rows {
			of := s.Rows[i].Of[k]
			c.put(cmp.Or(of, "-"), of != "")
		}
		columns = append(columns, c)
	}
	shown := slices.DeleteFunc(columns, func(c column) bool { return !c.some })
	for k := range shown {
		shown[k].put("", true)
	}
	if len(shown) == 0 {
		shown = []column{{cells: make([]string, len(s.Rows)+1), some: true}}
	}
	shown[0].cells[len(s.Rows)] = "total"
	return shown
}

func (s *Statement) pools() []column {
	var c []column
	for _, head := range []string{
		"TYPE", "TENURE", "GROUP", "NODES CAME", "RETURNED", "LOST", "GPU-H", "HELD", "FREE", "LEAVING", "STARTING", "RENT", "RENT UNUSED",
	} {
		c = append(c, column{head: head})
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		c[0].put(string(p.Type), true)
		c[1].put(p.Tenure, true)
		c[2].put(string(p.Group), p.Group != "")
		for k, n := range []int{p.Came, p.Returned, p.Gone} {
			c[3+k].count(n)
		}
		for k, t := range []GPUTime{p.There, p.Jobs, p.Free, p.Leaving, p.Starting} {
			c[6+k].hours(t)
		}
		c[11].number(p.Rent)
		c[12].number(p.Nobody)
	}
	for _, k := range []int{0, 1, 6, 7, 8} { // always shown
		c[k].some = true
	}
	return c
}

func writeTable(w io.Writer, columns []column) error {
	columns = slices.DeleteFunc(columns, func(c column) bool { return !c.some })
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(cell func(*column) string) {
		var cells []string
		for i := range columns {
			cells = append(cells, cell(&columns[i]))
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	line(func(c *column) string { return c.head })
	for i := range columns[0].cells {
		line(func(c *column) string { return c.cells[i] })
	}
	return t.Flush()
}
