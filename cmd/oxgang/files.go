package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/oxgang/oxgang/report"
)

// files writes the HTML report and, into the output folder, the results and
// the data of the plots. A file appears whole or not at all.
func (s *simulation) files(runs []report.Run) error {
	if s.html != "" {
		path := s.html
		if s.out != "" && !filepath.IsAbs(path) {
			path = filepath.Join(s.out, path)
		}
		if err := whole(path, func(w io.Writer) error {
			return report.HTML(w, report.Input{Title: s.title(), Facts: s.facts(), Runs: runs})
		}); err != nil {
			return err
		}
		fmt.Fprintln(s.stderr, "report: "+path)
	}
	if s.out == "" {
		return nil
	}
	if err := whole(filepath.Join(s.out, "results.json"), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(runs)
	}); err != nil {
		return err
	}
	return report.CSVs(func(name string) (io.WriteCloser, error) { return os.Create(filepath.Join(s.out, name)) }, runs)
}

func (s *simulation) title() string {
	what := s.config.Trace
	if what == "" {
		what = "generated " + s.config.Generate.Kind + " trace"
	}
	return fmt.Sprintf("%s on %s", what, s.config.Cluster)
}

// facts says what was run.
func (s *simulation) facts() []string {
	c := s.config
	return []string{
		"oxgang " + version(), "cluster " + c.Cluster, fmt.Sprintf("seed %d", c.Sim.Seed),
		fmt.Sprintf("round %v", c.Scheduler.Round), "estimates: " + c.Estimate,
	}
}

// whole writes a file next to its place and moves it there when it is
// complete, so that no half of one is left behind.
func whole(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone after the rename
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
