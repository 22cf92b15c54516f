// Package plan holds the commands that plan what to spend on GPUs.
package plan
