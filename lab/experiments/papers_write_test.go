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
	unknown := 0
	for _, f := range outside {
		if f.Shown == "" {
			unknown++
		}
	}
	inside := checked - len(outside)
	t := &markdown{}
	t.line("# Figures of the papers, and ours")
	t.line("")
	t.line("Every table and figure of the evaluations, and what reproduces it. [Papers and code](../papers.md) maps equations to code instead.")
	t.line("Of %d figures with a band, %d (%.0f %%) are inside. Of the %d outside, %d have an unknown cause ([table](#outside)).", checked, inside, 100*float64(inside)/float64(checked), len(outside), unknown)
	t.line("")
	t.line("This page is written from stored runs, `lab/experiments/results`: run `oxgang lab reproduce EXPERIMENT --record lab/experiments/results`,")
	t.line("then `go test ./lab/experiments -run TestPage -update`. Outside: figures outside their band, of all that have one. CPU: processor")
	t.line("time, median of the stored runs. \"quick\" marks what `oxgang lab reproduce --quick` runs.")
	t.causes(outside)
	for i := range papers {
		if err := t.paper(&papers[i]); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, t.text.String())
	return err
}

// total returns how many figures of the stored runs have a band, and those outside their bands.
func total(papers []Paper) (checked int, outside []Finding, err error) {
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
					return 0, nil, err
				}
				c, _ := count(found)
				checked += c
				outside = append(outside, slices.DeleteFunc(found, func(f Finding) bool { return f.Verdict == Within || f.Verdict == Shown })...)
			}
		}
	}
	return checked, outside, nil
}

// causes writes a table of the figures outside their bands. A cell like the one above it is empty.
func (t *markdown) causes(outside []Finding) {
	t.line("")
	t.line("## Outside")
	t.line("")
	t.line("Figures outside their bands, with the cause and what shows it: another row of the experiment, which is inside (row); the published")
	t.line("code's own figures (public); or a command.")
	t.line("")
	t.head([]string{"Experiment", "Row", "Metric", "Published", "Ours", "Cause", "Shown by"})
	var above Finding
	for _, f := range outside {
		name, why, shown := "`"+f.Experiment+"`", f.Why, shownBy(f.Shown)
		if f.Experiment == above.Experiment {
			name = ""
			if f.Why == above.Why {
				why = ""
			}
			if f.Why == above.Why && f.Shown == above.Shown {
				shown = ""
			}
		}
		t.row([]string{name, f.Row, "`" + f.Metric + "`", f.Band, fmt.Sprintf("%.4g", f.Ours), why, shown})
		above = f
	}
}

func shownBy(text string) string {
	kind, rest, _ := strings.Cut(text, ": ")
	switch kind {
	case "":
		return "**cause unknown**"
	case "row":
		return "row " + rest
	case "public":
		return "public, `" + rest + "`"
	}
	return "`" + text + "`"
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
	for _, f := range found {
		if f.Verdict != Shown {
			t.row([]string{f.Row, "`" + f.Metric + "`", f.Band, fmt.Sprintf("%.4g", f.Ours), marks[f.Verdict]})
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
