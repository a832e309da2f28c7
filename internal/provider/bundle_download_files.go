// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/archive"
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// writtenKey is the key of the private state that holds a writtenBundle.
const writtenKey = "written"

// writtenBundle is what the resource wrote last, to tell it from what others
// put in its place.
type writtenBundle struct {
	JobID  string `json:"job_id"`
	SHA256 string `json:"sha256"`
}

func writtenBy(plan *bundleDownloadModel) *writtenBundle {
	return &writtenBundle{JobID: plan.JobID.ValueString(), SHA256: plan.SHA256.ValueString()}
}

func readWritten(ctx context.Context, private privateReader, diags *diag.Diagnostics) *writtenBundle {
	written := &writtenBundle{}
	value, more := private.GetKey(ctx, writtenKey)
	diags.Append(more...)
	if len(value) > 0 && json.Unmarshal(value, written) != nil {
		// Nothing on disk counts as ours then: it is downloaded again, and not deleted.
		return &writtenBundle{}
	}
	return written
}

func (w *writtenBundle) write(ctx context.Context, private privateWriter, diags *diag.Diagnostics) {
	value, err := json.Marshal(w)
	if err != nil {
		diags.AddError("Could not write the private state of the download", err.Error())
		return
	}
	diags.Append(private.SetKey(ctx, writtenKey, value)...)
}

// checkFree refuses to write over what somebody else made.
func checkFree(plan *bundleDownloadModel, diags *diag.Diagnostics) {
	if _, err := os.Lstat(plan.Path.ValueString()); err == nil {
		diags.AddAttributeError(path.Root("path"), "File exists already",
			fmt.Sprintf("%s is there already, and the resource does not overwrite what it did not write. Remove it, or choose another path.", plan.Path.ValueString()))
	}
	if plan.ExtractTo.IsNull() {
		return
	}
	directory := plan.ExtractTo.ValueString()
	entries, err := os.ReadDir(directory)
	if err == nil && len(entries) == 0 || errors.Is(err, fs.ErrNotExist) {
		return
	}
	problem := "is there already and not empty"
	if err != nil {
		problem = "is there already, but cannot be read as a directory"
	}
	diags.AddAttributeError(path.Root("extract_to"), "Directory exists already",
		fmt.Sprintf("%s %s, and the resource does not overwrite what it did not write. Remove it, or choose another directory.", directory, problem))
}

// download fetches the bundle and sets what follows from it. It reports
// failures itself; nothing is left behind then.
func download(ctx context.Context, c *client.Client, plan *bundleDownloadModel, diags *diag.Diagnostics) bool {
	jobID := plan.JobID.ValueString()
	bundle, ok := bundleOf(ctx, c, jobID, diags)
	if !ok {
		return false
	}
	result, err := c.DownloadBundle(ctx, client.DownloadRequest{
		Path:   plan.Path.ValueString(),
		SHA256: plan.SHA256.ValueString(),
		Link: func(ctx context.Context, renew bool) (*client.Bundle, error) {
			if renew {
				return c.GenerateBundle(ctx, jobID)
			}
			return bundle, nil
		},
	})
	if err != nil {
		addDownloadError(diags, jobID, plan, err)
		return false
	}
	plan.SHA256 = types.StringValue(result.SHA256)
	plan.SizeBytes = types.Int64Value(result.SizeBytes)
	return true
}

func addDownloadError(diags *diag.Diagnostics, jobID string, plan *bundleDownloadModel, err error) {
	summary := "Could not download the bundle of the static export job " + jobID
	const untouched = "Nothing of it was kept; a file that was there before is unchanged."
	var checksum *client.ChecksumError
	var storage *client.StorageError
	var connection *client.ConnectionError
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &checksum):
		diags.AddAttributeError(path.Root("sha256"), "Checksum of the bundle does not match",
			fmt.Sprintf("The bundle of job %s has the SHA-256 checksum %s, but %s was asked for. %s\n\nIf the bundle is the right one, set sha256 to its checksum, or leave it out.",
				jobID, checksum.Got, checksum.Want, untouched))
	case errors.As(err, &storage):
		diags.AddError(summary, fmt.Sprintf("The object store %s answered %s.\n\n%s Apply again; if it goes on, the bundle may have been deleted, and a new export is needed.",
			storage.Host, said(&storage.Answer), untouched))
	case errors.As(err, &connection) && !interrupted(err) && !errors.Is(err, client.ErrTimeout):
		diags.AddError(summary, fmt.Sprintf("The download from %s broke off and could not be taken up again: %s.\n\n%s Check the network and, if one is needed, the proxy settings (HTTPS_PROXY, NO_PROXY), and apply again.",
			connection.Host, connection.Err, untouched))
	case errors.As(err, &file) || errors.As(err, &link):
		diags.AddAttributeError(path.Root("path"), summary, fmt.Sprintf("The file %s could not be written: %s.\n\n%s", plan.Path.ValueString(), err, untouched))
	default:
		addError(diags, summary, err, untouched)
	}
}

// unpack unpacks the file where that is asked for. It reports failures itself;
// the directory is as it was before then.
func unpack(ctx context.Context, plan *bundleDownloadModel, replace bool, diags *diag.Diagnostics) bool {
	plan.FileCount = types.Int64Null()
	if plan.ExtractTo.IsNull() {
		return true
	}
	directory := plan.ExtractTo.ValueString()
	result, err := archive.Extract(ctx, plan.Path.ValueString(), directory, archive.Options{Replace: replace})
	if err != nil {
		diags.AddAttributeError(path.Root("extract_to"), "Could not unpack the bundle",
			fmt.Sprintf("The bundle of job %s could not be unpacked into %s: %s.\n\nNothing of it was unpacked; the directory is as it was before.", plan.JobID.ValueString(), directory, strings.TrimSuffix(err.Error(), ".")))
		return false
	}
	if result.Leftover != "" {
		diags.AddAttributeWarning(path.Root("extract_to"), "Old files could not be removed",
			fmt.Sprintf("The bundle was unpacked, but what was in %s before could not be removed whole. The rest is in %s; delete it by hand.", directory, result.Leftover))
	}
	plan.FileCount = types.Int64Value(int64(result.Files))
	return true
}

// discard removes a file that was downloaded for nothing.
func discard(plan *bundleDownloadModel, diags *diag.Diagnostics) {
	if err := os.Remove(plan.Path.ValueString()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		diags.AddAttributeWarning(path.Root("path"), "Downloaded file could not be removed", capitalized(err.Error())+".")
	}
}

// inspect sets the attributes to what is on disk: null for what is not there.
func inspect(state *bundleDownloadModel, diags *diag.Diagnostics) {
	sum, size, err := checksum(state.Path.ValueString())
	switch {
	case err == nil:
		state.SHA256, state.SizeBytes = types.StringValue(sum), types.Int64Value(size)
	case errors.Is(err, fs.ErrNotExist):
		state.SHA256, state.SizeBytes = types.StringNull(), types.Int64Null()
	default:
		diags.AddAttributeError(path.Root("path"), "Could not read the downloaded file", capitalized(err.Error())+".")
	}
	if info, err := os.Stat(state.ExtractTo.ValueString()); err != nil || !info.IsDir() {
		state.FileCount = types.Int64Null()
	}
}

// checksum returns the SHA-256 in hexadecimal and the size of a regular file.
func checksum(name string) (sum string, size int64, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if size, err = io.Copy(hash, file); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(hash.Sum(nil)), size, nil
}

// removeWritten deletes what the resource wrote, as far as it is still that. The
// archive itself tells which files came out of it, so they go first.
func removeWritten(ctx context.Context, state *bundleDownloadModel, written *writtenBundle, diags *diag.Diagnostics) {
	name := state.Path.ValueString()
	sum, _, err := checksum(name)
	ours := err == nil && sum == written.SHA256
	if !state.ExtractTo.IsNull() {
		removeUnpacked(ctx, name, state.ExtractTo.ValueString(), ours, diags)
	}
	switch {
	case diags.HasError() || errors.Is(err, fs.ErrNotExist):
	case err != nil:
		diags.AddError("Could not delete the downloaded file", capitalized(err.Error())+".")
	case !ours:
		diags.AddWarning("Downloaded file was changed and stays",
			fmt.Sprintf("%s is not what the resource wrote, so it is not deleted. Delete it by hand if it is not needed.", name))
	default:
		if err := os.Remove(name); err != nil {
			diags.AddError("Could not delete the downloaded file", capitalized(err.Error())+".")
		}
	}
}

func removeUnpacked(ctx context.Context, name, directory string, ours bool, diags *diag.Diagnostics) {
	if _, err := os.Lstat(directory); errors.Is(err, fs.ErrNotExist) {
		return
	}
	if !ours {
		diags.AddWarning("Unpacked files stay",
			fmt.Sprintf("The bundle at %s is missing or was changed, so it cannot be told which files in %s came from it. Delete the directory by hand if it is not needed.", name, directory))
		return
	}
	left, err := archive.Remove(ctx, name, directory, archive.Limits{})
	if err != nil {
		diags.AddError("Could not delete the unpacked files", capitalized(err.Error())+".")
		return
	}
	if len(left) > 0 {
		diags.AddWarning("Other files in the directory stay",
			fmt.Sprintf("%s holds files that did not come from the bundle, such as %s. They are not deleted.", directory, left[0]))
	}
}
