package lab

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/lab/sweep"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/report/tabular"
)

type sweeping struct {
	file, out, shard, format, as string
	merge                        []string
	workers                      int
	quiet                        bool
	batch                        batch
	stdout, stderr               io.Writer
}

func sweepCommand() *cobra.Command {
	var s sweeping
	cmd := &cobra.Command{
		Use:   "sweep FILE",
		Short: "Run a grid of configurations, resumably, and compare policies",
		Long: `Run a grid of configurations, such as policies x seeds x loads x clusters, on all cores.
FILE names the axes, by the settings of "oxgang config":

  axes:
    generate.load: [0.5, 1.0]      # any setting, with its values
    policy: [easy, sia, oxgang]
    seed: 1..10
  set: {generate.kind: helios-like, generate.jobs: 200}   # for all runs
  baseline: easy                   # default: the first policy
  measures: [jct_mean_h]           # default: all of "oxgang simulate -o csv"

A finished run is stored in the output directory under a hash of its settings, its files and the
program, and is not repeated. If the command is stopped, even by kill -9, start it again: only the
unfinished runs are repeated. At the end the directory has the tables summary and runs as .csv and
.parquet.

Intervals are 95 %, by Student's t over the seeds. Differences from the baseline are paired by seed,
with the same jobs and nodes. Settings come from FILE only, not from OXGANG_ variables.

With --shard i/n a process runs every n-th run, so that an indexed Kubernetes Job or a Slurm array
can share the work; --as prints such a job. --merge combines the directories of parts.`,
		Example: `  oxgang lab sweep sweep.yaml
  oxgang lab sweep sweep.yaml --shard 2/8 --out part2
  oxgang lab sweep sweep.yaml --out all --merge part0,part1
  oxgang lab sweep sweep.yaml --as slurm --shards 8 | sbatch`,
		Args: cli.OneArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.file, s.stdout, s.stderr = args[0], cmd.OutOrStdout(), cmd.ErrOrStderr()
			s.out = cmp.Or(s.out, strings.TrimSuffix(filepath.Base(s.file), filepath.Ext(s.file))+"-sweep")
			return s.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.out, "out", "", "directory for finished runs and tables; default: FILE without extension, with -sweep")
	f.StringVar(&s.shard, "shard", "", "part of the runs: 2/8 is part 2 of the parts 0 to 7; empty: all")
	f.StringSliceVar(&s.merge, "merge", nil, "directories of parts, comma-separated: copy their runs, and run nothing")
	f.IntVar(&s.workers, "workers", 0, "parallel runs; 0: one per core")
	f.StringVarP(&s.format, "output", "o", "table", "table, or csv for the summary")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "no progress")
	f.StringVar(&s.as, "as", "", "print a batch job that runs the sweep, and run nothing: "+strings.Join(batchKinds(), " or "))
	s.batch.flags(cmd)
	cli.Complete(cmd, "output", []string{"table", "csv"})
	cli.Complete(cmd, "as", batchKinds())
	return cmd
}

func (s *sweeping) run(ctx context.Context) error {
	shard, err := sweep.ParseShard(s.shard)
	if err != nil {
		return cli.Usage(err)
	}
	switch {
	case s.workers < 0:
		return cli.Misused("workers %d, want at least 0", s.workers)
	case !slices.Contains([]string{"table", "csv"}, s.format):
		return cli.Misused("output %q, want table or csv", s.format)
	case s.shard != "" && len(s.merge) > 0:
		return cli.Misused("use either --shard or --merge: --merge runs nothing")
	}
	text, err := os.ReadFile(s.file)
	if err != nil {
		return err
	}
	sw, err := sweep.Read(bytes.NewReader(text), s.file, checkSwept)
	if err != nil {
		return err
	}
	if s.as != "" {
		return s.batch.write(s.stdout, s.as, s.file, text, sw)
	}
	program, err := programID()
	if err != nil {
		return err
	}
	o := &sweep.Options{
		Out: s.out, From: s.merge, Program: program, Shard: shard,
		Workers: cmp.Or(s.workers, runtime.GOMAXPROCS(0)), Files: cli.FilesUntil(ctx),
	}
	return s.play(ctx, sw, o)
}

func programID() (string, error) {
	version := cli.Version()
	if released.MatchString(version) {
		return version, nil
	}
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return version + " " + hex.EncodeToString(h.Sum(nil)[:8]), err
}

var released = regexp.MustCompile(`^v\d[\w.-]*$`)

func checkSwept(c *config.Config) error {
	if c.Trace == "-" {
		return errors.New(`trace "-" can be read only once; use a file`)
	}
	return cli.Check(c)
}

func (s *sweeping) play(ctx context.Context, sw *sweep.Sweep, o *sweep.Options) error {
	st, err := sw.Open(o)
	if err != nil {
		return err
	}
	s.say("%d runs, %d of them done before\n", len(st.Records), st.Before)
	if len(s.merge) == 0 {
		ran := 0
		o.Note = func(r *sweep.Run, err error) {
			ran++
			why := ""
			if err != nil {
				why = ": " + err.Error()
			}
			s.say("%d: %s%s\n", ran, r.Name(sw), why)
		}
		if err := sw.Play(ctx, st, o); err != nil {
			if ctx.Err() != nil {
				return cli.Hinted(cli.ErrInterrupted, "%d runs are done; repeat the command to run the others", st.Before+st.Ran)
			}
			return err
		}
	}
	return s.end(sw, st, o)
}

func (s *sweeping) end(sw *sweep.Sweep, st *sweep.Status, o *sweep.Options) error {
	if s.shard != "" { // others may have finished runs
		failed := st.Failed
		again, err := sw.Open(o)
		if err != nil {
			return err
		}
		if st = again; len(failed) == 0 && st.Missing() > 0 {
			s.say("%d of %d runs are done in %s\n", len(st.Records)-st.Missing(), len(st.Records), s.out)
			return nil
		}
		st.Failed = failed
	}
	if err := s.tables(sw, st); err != nil {
		return err
	}
	for _, r := range sw.Runs() {
		if err := st.Failed[r]; err != nil {
			return fmt.Errorf("%d runs failed; the first, %s: %w", len(st.Failed), r.Name(sw), err)
		}
	}
	if n := st.Missing(); n > 0 {
		return fmt.Errorf("%d of %d runs are missing in the tables", n, len(st.Records))
	}
	return nil
}

func (s *sweeping) tables(sw *sweep.Sweep, st *sweep.Status) error {
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	for _, f := range tabular.Formats() {
		for name, write := range map[string]func(io.Writer, tabular.Format, *sweep.Status) error{"summary": sw.WriteSummary, "runs": sw.WriteRuns} {
			path := filepath.Join(s.out, name+"."+string(f))
			if err := cli.Whole(path, func(w io.Writer) error { return write(w, f, st) }); err != nil {
				return err
			}
		}
	}
	s.say("tables: %s\n", filepath.Join(s.out, "summary.csv"))
	if s.format == "csv" {
		return sw.WriteSummary(s.stdout, tabular.CSV, st)
	}
	return sw.WriteText(s.stdout, st)
}

func (s *sweeping) say(format string, args ...any) {
	if !s.quiet {
		fmt.Fprintf(s.stderr, format, args...)
	}
}
