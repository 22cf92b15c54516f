package experiments

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// writePapers writes a Markdown page of all tables and figures of the papers, with the results of the stored runs.
func writePapers(w io.Writer) error {
	papers, err := Papers()
	if err != nil {
		return err
	}
	checked, outside, err := total(papers)
	if err != nil {
		return err
	}
	t := &markdown{}
	t.line("# Figures of the papers, and ours")
	t.line("")
	t.line("Every table and figure of the evaluations, and what reproduces it. [Papers and code](../papers.md) maps equations to code instead.")
	t.line("Of %d figures with a band, %d (%.0f %%) are inside. The row of each other one has the cause.", checked, checked-outside, 100*float64(checked-outside)/float64(checked))
	t.line("")
	t.line("This page is written from stored runs, `lab/experiments/results`: run `oxgang lab reproduce EXPERIMENT --record lab/experiments/results`,")
	t.line("then `go test ./lab/experiments -run TestPage -update`. Outside: figures outside their band, of all that have one. CPU: processor")
	t.line("time, median of the stored runs. \"quick\" marks what `oxgang lab reproduce --quick` runs.")
	for i := range papers {
		if err := t.paper(&papers[i]); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, t.text.String())
	return err
}

func total(papers []Paper) (checked, outside int, err error) {
	counted := make(map[string]bool)
	for _, p := range papers {
		for _, f := range p.Figures {
			for _, name := range f.Run {
				if counted[name] {
					continue
				}
				counted[name] = true
				_, found, err := stored(name)
				if err != nil {
					return 0, 0, err
				}
				c, o := count(found)
				checked, outside = checked+c, outside+o
			}
		}
	}
	return checked, outside, nil
}

func (t *markdown) paper(p *Paper) error {
	t.line("")
	t.line("## %s", p.Title)
	t.line("")
	t.head([]string{"Figure", "Shows", "Experiment", "Outside", "CPU"})
	var names []string
	for i := range p.Figures {
		f := &p.Figures[i]
		for k, name := range f.Run {
			outside, cpu, err := Stored(name)
			if err != nil {
				return err
			}
			figure, shows := f.Figure, f.Shows
			if k > 0 {
				figure, shows = "", ""
			}
			t.row([]string{figure, shows, "`" + name + "`", outside, cpu})
			names = append(names, name)
		}
		if len(f.Run) == 0 {
			t.row([]string{f.Figure, f.Shows, f.by(), "", ""})
		}
	}
	t.reasons(p)
	for i, name := range names {
		if slices.Index(names, name) < i {
			continue
		}
		if err := t.experiment(name); err != nil {
			return err
		}
	}
	return nil
}

func (f *PaperFigure) by() string {
	if f.Test == "" {
		return "–"
	}
	pkg, run, _ := strings.Cut(f.Test, " Test")
	return fmt.Sprintf("`go test ./%s -run 'Test%s'`", pkg, run)
}

func (t *markdown) reasons(p *Paper) {
	t.line("")
	t.line("Not reproduced, or only in part:")
	t.line("")
	for i := range p.Figures {
		if f := &p.Figures[i]; f.Why != "" {
			t.line("- %s: %s.", f.Figure, f.Why)
		}
	}
}

func (t *markdown) experiment(name string) error {
	e, err := Find(name)
	if err != nil {
		return err
	}
	rec, found, err := stored(name)
	if err != nil {
		return err
	}
	if checked, _ := count(found); checked == 0 {
		return nil
	}
	t.line("")
	t.line("### %s", name)
	t.line("")
	t.line("%s. Commit %s, seed %d.", e.Title, rec.Commit, rec.Seed)
	t.line("")
	t.head([]string{"Run", "Metric", "Published", "Ours", ""})
	why := ""
	for _, f := range found {
		if f.Verdict != Shown {
			mark := marks[f.Verdict]
			if f.Why != "" && f.Why != why {
				why, mark = f.Why, mark+": "+f.Why
			}
			t.row([]string{f.Row, "`" + f.Metric + "`", f.Band, fmt.Sprintf("%.4g", f.Ours), mark})
		}
	}
	if len(e.Notes) > 0 {
		t.line("")
		for _, n := range e.Notes {
			t.line("- %s", n)
		}
	}
	return nil
}

var marks = map[Verdict]string{Within: "in", Outside: "**out**", Short: "**short**"}
