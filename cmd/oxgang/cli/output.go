package cli

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/internal/printable"
)

// WriteJSON writes a value as indented JSON without control characters.
func WriteJSON(w io.Writer, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, printable.Text(b.String()))
	return err
}

// Show calls show once or, if watched is true, every two seconds until it fails or the context ends. On a terminal,
// each output replaces the last.
func Show(cmd *cobra.Command, watched bool, show func(io.Writer) error) error {
	if watched {
		return watch(cmd.Context(), cmd.OutOrStdout(), show)
	}
	var page strings.Builder
	if err := show(&page); err != nil {
		return err
	}
	_, err := io.WriteString(cmd.OutOrStdout(), printable.Text(page.String()))
	return err
}

const watchTime = 2 * time.Second

func watch(ctx context.Context, w io.Writer, show func(io.Writer) error) error {
	for {
		var page strings.Builder
		if err := show(&page); err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // it was stopped while it asked
			}
			return err
		}
		if err := Redraw(w, page.String()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchTime):
		}
	}
}

// Redraw prints a text. On a terminal, it clears the screen first.
func Redraw(w io.Writer, text string) error {
	before := ""
	if Terminal(w) {
		before = "\x1b[H\x1b[2J"
	}
	_, err := io.WriteString(w, before+printable.Text(text))
	return err
}
