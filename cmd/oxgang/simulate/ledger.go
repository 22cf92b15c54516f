package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/ledger"
)

// accounting is one call of oxgang ledger.
type accounting struct {
	by, format string
	stderr     io.Writer
	book       ledger.Book
	rec        *ledger.Recorder // of the last journal, and of those before it of the same scheduler; nil: none yet
	movements  []ledger.Movement
	account    account
}

// An account is what oxgang ledger prints as JSON.
type account struct {
	Policy    string `json:"policy"`
	Rounds    int    `json:"rounds"`
	Priced    int    `json:"priced_rounds"`        // whose plan has prices
	Truncated bool   `json:"truncated"`            // a journal has no end
	Unsealed  bool   `json:"unverified,omitempty"` // a journal has no hashes
	*ledger.Statement
}

// LedgerCommand returns the command "oxgang ledger".
func LedgerCommand() *cobra.Command {
	var a accounting
	formats := []string{"table", "json", "yaml", "csv"}
	cmd := &cobra.Command{
		Use:   "ledger JOURNAL...",
		Short: "Say who used the GPUs of recorded runs, and what was paid for them",
		Long: `Say from journals, of simulate --out or of a live scheduler, what each queue, user, class or job
used of owned, lent and rented GPUs, and what it paid: at the prices of each round, where the policy
has prices, and as rent. Below it is what became of the GPUs: how many nodes came and went, and what
nobody used. Several journals, as a live scheduler leaves after restarts, are added up, the oldest first: jobs
that went on while it was not there had their GPUs throughout. Parts of a journal count once.

A GPU's price is what one more would have added to the policy's objective in that round. PAID is the
sum, over rounds, of the price of what was held, in the unit of that objective: compare shares, and
not payments under different policies. PRICED is the GPU time of rounds whose plan has prices.`,
		Example: `  oxgang simulate --policy sia --out run/
  oxgang ledger run/sia.oxj --by user,class
  oxgang ledger run/sia.oxj --by job,type,tenure -o csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage(cli.Hinted(fmt.Errorf("%s takes journals, got none", cmd.CommandPath()), "simulate --out leaves them: run/sia.oxj"))
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
			a.stderr = cmd.ErrOrStderr()
			return a.run(cmd.Context(), cmd.OutOrStdout(), args, by)
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.by, "by", "queue,user,class", "what rows are of: "+strings.Join(ledger.Keys(), ", ")+"; empty: the total alone")
	f.StringVarP(&a.format, "output", "o", "table", strings.Join(formats, ", "))
	cli.Complete(cmd, "output", formats)
	return cmd
}

func (a *accounting) run(ctx context.Context, stdout io.Writer, files, by []string) error {
	seen := map[string]bool{}
	for _, file := range files {
		of := cli.JournalOf(file)
		if seen[of] { // another part of a journal that was read as a whole
			continue
		}
		seen[of] = true
		if err := a.read(ctx, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	a.end()
	var err error
	if a.account.Statement, err = a.book.State(by, a.movements...); err != nil {
		return err
	}
	switch a.format {
	case "json", "yaml":
		return cli.Write(stdout, a.format, a.account)
	case "csv":
		return a.account.WriteCSV(stdout)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %d rounds, of which %d have prices\n\n", a.account.Policy, a.account.Rounds, a.account.Priced)
	if err := a.account.Write(&text); err != nil {
		return err
	}
	_, err = io.WriteString(stdout, printable.Text(text.String()))
	return err
}

// read adds what a journal has. It returns an error if its policy is another than that of those
// before, because its prices have another unit.
func (a *accounting) read(ctx context.Context, file string) error {
	j, f, err := cli.OpenJournal(ctx, file)
	if err != nil {
		return err
	}
	defer f.Close()
	h := j.Header()
	if a.account.Policy != "" && a.account.Policy != h.Policy {
		return fmt.Errorf("it is of policy %s, the journals before are of %s, and their prices have different units; want journals of one policy", h.Policy, a.account.Policy)
	}
	a.account.Policy = h.Policy
	if !j.Sealed() {
		a.account.Unsealed = true
		fmt.Fprintf(a.stderr, "%s: %s\n", file, journal.Unverified)
	}
	a.begin(&h)
	err = j.Show(&counted{a.rec, &a.account})
	if errors.Is(err, journal.ErrTruncated) {
		a.account.Truncated, err = true, nil
		fmt.Fprintf(a.stderr, "%s: the journal has no end: it was cut off, as by a crash, or its run goes on\n", file)
	}
	if err != nil {
		return err
	}
	return nil
}

// begin makes the recorder ready for a journal. One that begins when the one before has ended may be of the same scheduler, started
// again. One whose first parts are not there begins with its first record.
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
	a.rec = ledger.NewRecorder(start, h.Cluster, a.book.Add)
}

// end books what the last journals leave open.
func (a *accounting) end() {
	if a.rec != nil {
		a.rec.Close()
		a.movements = append(a.movements, a.rec.Movements()...)
	}
}

// counted is a recorder whose rounds are counted.
type counted struct {
	rec *ledger.Recorder
	to  *account
}

// Event implements scheduler.Observer.
func (c *counted) Event(now time.Time, ev scheduler.Event) { c.rec.Event(now, ev) }

// Round implements scheduler.Observer.
func (c *counted) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	c.to.Rounds++
	if len(p.Prices) > 0 {
		c.to.Priced++
	}
	c.rec.Round(s, p, acts)
}
