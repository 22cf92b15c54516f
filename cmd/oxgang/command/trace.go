package command

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

func traceCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "trace", Short: "Describe, convert and generate traces", Long: "Describe, convert and generate traces. The formats:\n\n" + formatList()}
	cli.Group(cmd)
	cmd.AddCommand(describeCommand(), convertCommand(), generateCommand())
	return cmd
}

func formatList() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FORMAT\tWRITABLE\tDESCRIPTION")
	for _, f := range trace.Formats() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Name, map[bool]string{true: "yes", false: "no"}[f.Write != nil], f.Doc)
	}
	_ = w.Flush() // in memory
	return b.String()
}

const namedFormat = "FILE may have a format prefix: slurm:FILE means --format slurm FILE."

type traceFile struct {
	name, format, onBadRow, zone, mapping string
	limit                                 int
	summary                               parse.Summary
	waits                                 trace.Waits
}

func (t *traceFile) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.format, "format", "", "format of the trace; empty: detected from its content")
	f.StringVar(&t.onBadRow, "on-bad-row", "few", "what to do with an invalid row: fail, skip, or few (skip, unless more than 1 % of rows are invalid)")
	f.StringVar(&t.mapping, "mapping", "", "file that states what the columns of a table mean")
	f.StringVar(&t.zone, "zone", "", "time zone of Slurm's local times, such as Europe/Berlin, UTC or Local (this machine's); empty: UTC, with a note")
	f.IntVar(&t.limit, "limit", 0, "maximum number of jobs; 0: all")
	cli.Complete(cmd, "format", cli.TraceFormats(false))
	cli.Complete(cmd, "on-bad-row", cli.BadRows())
}

func (t *traceFile) read(ctx context.Context, use func(iter.Seq2[workload.Arrival, error]) error) error {
	onBad, err := parse.BadRowOf(t.onBadRow)
	if err != nil {
		return cli.Usage(err)
	}
	if t.format != "" {
		if _, err := trace.Find(t.format); err != nil {
			return cli.Usage(err)
		}
	}
	zone, err := config.Location(t.zone)
	if err != nil {
		return cli.Usage(err)
	}
	format, file := trace.Named(t.name, t.format)
	o := parse.Options{File: file, OnBadRow: onBad, Limit: t.limit, Zone: zone, Wait: t.waits.Add, Summary: &t.summary}
	if t.mapping != "" {
		if o.Mapping, err = cli.ReadMapping(ctx, t.mapping); err != nil {
			return err
		}
	}
	if err := o.Validate(); err != nil {
		return cli.Usage(err)
	}
	f, err := cli.Open(ctx, file)
	if err != nil {
		return err
	}
	defer f.Close()
	seq, err := trace.Open(f, format, o)
	if err != nil {
		return err
	}
	return use(seq)
}

func describeCommand() *cobra.Command {
	var t traceFile
	var format string
	formats := []string{"text", "json", "yaml"}
	cmd := &cobra.Command{
		Use: "describe FILE", Short: "Summarise a trace: counts, load over time, sizes, dropped rows",
		Long: "Summarise a trace: counts, load over time, sizes, dropped rows.\n" + namedFormat,
		Args: cli.OneArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t.name = args[0]
			if err := cli.CheckOutput(format, formats...); err != nil {
				return err
			}
			return t.read(cmd.Context(), func(seq iter.Seq2[workload.Arrival, error]) error {
				d, err := trace.Describe(seq, &t.waits)
				if err != nil {
					return err
				}
				d.Summary = &t.summary
				if format != "text" {
					return cli.Write(cmd.OutOrStdout(), format, described(d))
				}
				_, err = io.WriteString(cmd.OutOrStdout(), d.String())
				return err
			})
		},
	}
	t.flags(cmd)
	cli.Output(cmd, &format, formats...)
	return cmd
}

func convertCommand() *cobra.Command {
	var t traceFile
	var to target
	cmd := &cobra.Command{
		Use: "convert FILE", Short: "Write a trace in another format",
		Long: "Write a trace in another format.\n" + namedFormat,
		Args: cli.OneArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t.name = args[0]
			if err := to.check(); err != nil {
				return err
			}
			err := t.read(cmd.Context(), func(seq iter.Seq2[workload.Arrival, error]) error {
				return to.write(cmd.OutOrStdout(), seq)
			})
			if err == nil && len(t.summary.Notes)+t.summary.Bad > 0 {
				fmt.Fprint(cmd.ErrOrStderr(), &t.summary)
			}
			return err
		},
	}
	t.flags(cmd)
	to.flags(cmd)
	return cmd
}

type target struct{ format, file string }

func (t *target) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.format, "to", "jsonl", "format to write")
	cmd.Flags().StringVarP(&t.file, "output", "o", "", "file to write; empty: standard output")
	cli.Complete(cmd, "to", cli.TraceFormats(true))
}

func (t *target) check() error {
	f, err := trace.Find(t.format)
	if err != nil {
		return cli.Usage(fmt.Errorf("--to: %w", err))
	}
	if f.Write == nil {
		return cli.Misused("--to: format %s is read-only, want one of %s", t.format, strings.Join(cli.TraceFormats(true), ", "))
	}
	return nil
}

func (t *target) write(stdout io.Writer, seq iter.Seq2[workload.Arrival, error]) error {
	f, err := trace.Find(t.format)
	if err != nil {
		return err
	}
	if t.file == "" || t.file == "-" {
		return f.Write(stdout, seq)
	}
	return cli.Whole(t.file, func(w io.Writer) error { return f.Write(w, seq) })
}
