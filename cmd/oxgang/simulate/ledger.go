package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/gpuuse"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/ledger"
	"github.com/oxgang/oxgang/simulate/config"
)

type accounting struct {
	by, format  string
	month, zone string
	period      ledger.Period // of the month; zero: all time
	covered     []ledger.Period
	stderr      io.Writer
	book        ledger.Book
	rec         *ledger.Recorder // of journals of the same scheduler; nil before the first
	movements   []ledger.Movement
	account     account
}

type account struct {
	Policy    string `json:"policy"`
	Rounds    int    `json:"rounds"`
	Priced    int    `json:"priced_rounds"`        // whose plan has prices
	Truncated bool   `json:"truncated"`            // a journal has no end
	Unsealed  bool   `json:"unverified,omitempty"` // a journal has no hashes
	Month     string `json:"month,omitempty"`
	Missing   []gap  `json:"missing,omitempty"`
	*ledger.Statement
}

type gap struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// LedgerCommand returns the command "oxgang ledger".
func LedgerCommand() *cobra.Command {
	var a accounting
	formats := []string{"table", "json", "yaml", "csv"}
	cmd := &cobra.Command{
		Use:   "ledger JOURNAL...",
		Short: "Report who used the GPUs of recorded runs, and at what cost",
		Long: `Report the use of owned, lent and rented GPUs by queue, user, class or job, from journals of simulate
--out or of a live scheduler. The cost of the use is given as rent and, if the policy has prices, at
the prices of each round. Lists below the table have the changes of nodes and the unused GPUs.
Several journals of a restarted scheduler are added up, oldest first. A job that ran on while the
scheduler restarted counts as holding its GPUs meanwhile. Time in two journals counts once.

The price of a GPU is what one more would have added to the policy's objective in that round. COST
is the sum over rounds of the prices of held GPUs, in the unit of that objective, so compare shares,
not amounts of different policies. PRICED is the GPU time of rounds whose plan has prices.

With --month, only the time in that calendar month counts. The times of the month that no journal
covers are listed.`,
		Example: `  oxgang simulate --policy sia --out run/
  oxgang ledger run/sia.oxj --by user,class
  oxgang ledger run/sia.oxj --by job,type,tenure -o csv
  oxgang ledger state/journal/*.oxj --month 2026-11 --zone Europe/Berlin --by queue,user`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage(cli.Hinted(fmt.Errorf("%s needs at least one journal", cmd.CommandPath()), "simulate --out writes them: run/sia.oxj"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(formats, a.format) {
				return cli.Misused("output %q, want one of %s", a.format, strings.Join(formats, ", "))
			}
			by := strings.FieldsFunc(a.by, func(r rune) bool { return r == ',' })
			if _, err := a.book.State(by); err != nil {
				return cli.Misused("--by: %w", cli.TrimPrefix(err, "ledger: "))
			}
			if err := a.setPeriod(); err != nil {
				return cli.Usage(err)
			}
			a.stderr = cmd.ErrOrStderr()
			return a.run(cmd.Context(), cmd.OutOrStdout(), args, by)
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.by, "by", "queue,user,class", "keys of the rows: "+strings.Join(ledger.Keys(), ", ")+"; empty: only the total")
	f.StringVar(&a.month, "month", "", "count only this calendar month: 2026-11")
	f.StringVar(&a.zone, "zone", "UTC", "time zone of the month: Europe/Berlin, UTC, or Local for this machine's zone")
	f.StringVarP(&a.format, "output", "o", "table", strings.Join(formats, ", "))
	cli.Complete(cmd, "output", formats)
	return cmd
}

func (a *accounting) setPeriod() error {
	if a.month == "" {
		return nil
	}
	zone, err := config.Location(a.zone)
	if err != nil {
		return fmt.Errorf("--zone: %w", err)
	}
	from, err := time.ParseInLocation("2006-01", a.month, zone)
	if err != nil {
		return fmt.Errorf("--month %q, want a year and a month, such as 2026-11", a.month)
	}
	a.period = ledger.Period{From: from, To: from.AddDate(0, 1, 0)}
	a.account.Month = a.month
	return nil
}

func (a *accounting) missing() (all []gap) {
	if a.month == "" {
		return nil
	}
	for _, p := range a.period.Missing(a.covered) {
		all = append(all, gap{p.From.In(a.period.From.Location()), p.To.In(a.period.From.Location())})
	}
	return all
}

func (g gap) String() string {
	const layout = "2006-01-02 15:04:05 MST"
	return fmt.Sprintf("missing: no journal has records from %s to %s", g.From.Format(layout), g.To.Format(layout))
}

func (a *accounting) run(ctx context.Context, stdout io.Writer, files, by []string) error {
	seen := map[string]bool{}
	for _, file := range files {
		of := cli.JournalOf(file)
		if seen[of] {
			continue
		}
		seen[of] = true
		if err := a.read(ctx, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	a.end()
	if err := a.unused(files); err != nil {
		return err
	}
	var err error
	if a.account.Statement, err = a.book.State(by, a.movements...); err != nil {
		return err
	}
	a.account.Missing = a.missing()
	switch a.format {
	case "json", "yaml":
		return cli.Write(stdout, a.format, a.account)
	case "csv":
		for _, g := range a.account.Missing {
			fmt.Fprintln(a.stderr, g)
		}
		return a.account.WriteCSV(stdout)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %d rounds, %d with prices", a.account.Policy, a.account.Rounds, a.account.Priced)
	if a.month != "" {
		fmt.Fprintf(&text, ", in %s (%s)", a.period.From.Format("January 2006"), a.zone)
	}
	text.WriteString("\n")
	for _, g := range a.account.Missing {
		fmt.Fprintln(&text, g)
	}
	text.WriteString("\n")
	if err := a.account.Write(&text); err != nil {
		return err
	}
	_, err = io.WriteString(stdout, printable.Text(text.String()))
	return err
}

func (a *accounting) unused(files []string) error {
	seen := map[string]bool{}
	for _, file := range files {
		folder := filepath.Dir(file)
		if seen[folder] {
			continue
		}
		seen[folder] = true
		all, err := gpuuse.ReadLog(folder)
		if err != nil {
			return err
		}
		for _, one := range all {
			if a.period.Has(one.At) {
				a.book.AddUnused(one.Job, ledger.Of(1, time.Duration(one.GPUSeconds*float64(time.Second))))
			}
		}
	}
	return nil
}

// read refuses another policy, whose prices have a different unit.
func (a *accounting) read(ctx context.Context, file string) error {
	j, f, err := cli.OpenJournal(ctx, file)
	if err != nil {
		return err
	}
	defer f.Close()
	h := j.Header()
	if a.account.Policy != "" && a.account.Policy != h.Policy {
		return fmt.Errorf("policy %s, but the earlier journals have policy %s, whose prices have another unit; use journals of one policy", h.Policy, a.account.Policy)
	}
	a.account.Policy = h.Policy
	if !j.Sealed() {
		a.account.Unsealed = true
		fmt.Fprintf(a.stderr, "%s: %s\n", file, journal.Unverified)
	}
	a.begin(&h)
	count := &counted{rec: a.rec, to: a}
	if h.From == 0 {
		count.first = h.Start
	}
	err = j.Show(count)
	a.covered = append(a.covered, ledger.Period{From: count.first, To: a.rec.Now()})
	if errors.Is(err, journal.ErrTruncated) {
		a.account.Truncated, err = true, nil
		fmt.Fprintf(a.stderr, "%s: the journal has no end: its run crashed or still runs\n", file)
	}
	if err != nil {
		return err
	}
	return nil
}

// begin prepares the recorder. If the journal begins after the end of the one before, it may be the same
// scheduler, restarted. A journal without its first parts begins with its first record.
func (a *accounting) begin(h *journal.Header) {
	if a.rec != nil && !h.Start.Before(a.rec.Now()) {
		a.rec.Again(h.Start, h.Cluster)
		return
	}
	a.end()
	start := h.Start
	if h.From > 0 {
		start = time.Time{}
	}
	a.rec = ledger.NewRecorderOf(a.period, start, h.Cluster, a.book.Add)
}

func (a *accounting) end() {
	if a.rec != nil {
		a.rec.Close()
		a.movements = append(a.movements, a.rec.Movements()...)
	}
}

type counted struct {
	rec   *ledger.Recorder
	to    *accounting
	first time.Time // of the journal; zero before the first record of a journal whose first parts are missing
}

func (c *counted) Event(now time.Time, ev scheduler.Event) {
	c.begin(now)
	c.rec.Event(now, ev)
}

func (c *counted) begin(now time.Time) {
	if c.first.IsZero() {
		c.first = now
	}
}

func (c *counted) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	c.begin(s.Now)
	if c.to.period.Has(s.Now) {
		c.to.account.Rounds++
		if len(p.Prices) > 0 {
			c.to.account.Priced++
		}
	}
	c.rec.Round(s, p, acts)
}
