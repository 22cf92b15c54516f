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

// sweeping is one call of oxgang lab sweep.
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
		Short: "Run a grid of configurations, resumably, and compare policies by common random numbers",
		Long: `Run a grid of configurations, as policies x seeds x loads x clusters, on all cores.
FILE names the axes, by the settings of "oxgang config":

  axes:
    generate.load: [0.5, 1.0]      # any setting, with its values
    policy: [easy, sia, oxgang]
    seed: 1..10
  set: {generate.kind: helios-like, generate.jobs: 200}   # of all runs
  baseline: easy                   # default: the first policy
  measures: [jct_mean_h]           # default: all of "oxgang simulate -o csv"

A run that is done is kept in the output folder under a hash of its settings, its files and
the program, and is not run again. Who is stopped at any time, by kill -9 too, begins the
same command again and loses only the runs that were going on. The tables summary.csv and
runs.csv, and both as .parquet, are in the folder when all runs are done.
Intervals are of 95 %, by Student's t over the seeds. Differences to the baseline are taken
seed by seed, on the same jobs and nodes. Settings come from FILE only, not from OXGANG_
variables.

With --shard i/n a process runs every n-th run, so that an indexed Job of Kubernetes or an
array of Slurm shares the work: --as prints it. Folders of parts are put together by --merge.`,
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
	f.StringVar(&s.out, "out", "", "folder of what is done, and of the tables; empty: the name of FILE with -sweep for its ending")
	f.StringVar(&s.shard, "shard", "", "part of the runs, as 2/8: of the parts 0 to 7; empty: all")
	f.StringSliceVar(&s.merge, "merge", nil, "folders of parts, by comma: their runs are copied, and none is run")
	f.IntVar(&s.workers, "workers", 0, "runs at once; 0: one for each core")
	f.StringVarP(&s.format, "output", "o", "table", "table, or csv: the summary on standard output")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "no progress")
	f.StringVar(&s.as, "as", "", "print what runs the sweep on a cluster, and run nothing: "+strings.Join(batchKinds(), " or "))
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
		return cli.Misused("shard and merge contradict each other: merge runs nothing")
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

// programID returns what tells this build of the program from others: its version, and a hash of the
// program where the version stands for several builds.
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

// released matches the versions of builds that are given to others.
var released = regexp.MustCompile(`^v\d[\w.-]*$`)

// checkSwept is what simulate checks, and that a trace can be read more than once.
func checkSwept(c *config.Config) error {
	if c.Trace == "-" {
		return errors.New(`trace "-", which can be read once; want a file`)
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
				return cli.Hinted(cli.ErrInterrupted, "%d runs are done; the same command runs the others", st.Before+st.Ran)
			}
			return err
		}
	}
	return s.end(sw, st, o)
}

// end writes the tables, or says what is missing.
func (s *sweeping) end(sw *sweep.Sweep, st *sweep.Status, o *sweep.Options) error {
	if s.shard != "" { // others may have written meanwhile
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
		return fmt.Errorf("%d of %d runs are not done; the tables are of the others", n, len(st.Records))
	}
	return nil
}

// tables writes the tables of what is done.
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
