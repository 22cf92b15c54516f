// Package simulate holds the commands that simulate, explain, replay, report and reproduce.
package simulate
