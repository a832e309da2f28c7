// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// writtenKey is the key of writtenBundle in the private state.
const writtenKey = "written"

// writtenBundle is what the resource stores about what it wrote.
type writtenBundle struct {
	// JobID is the job of the last bundle.
	JobID string `json:"job_id"`
	bundle.Owned
	// SHA256 is the only digest that provider versions without content_sha256 stored.
	SHA256 string `json:"sha256,omitempty"`
}

// readWritten returns what the resource stored. If the private state cannot be decoded,
// the result is empty, so that no file on disk counts as written by the resource.
func readWritten(ctx context.Context, private privateReader, diags *diag.Diagnostics) writtenBundle {
	written, _ := readPrivate[writtenBundle](ctx, private, writtenKey, diags)
	return written
}

// adopt converts the private state of a provider version without content_sha256. That
// version stored only the file's checksum. If the file is still there, adopt computes the
// missing digests from it.
func (w *writtenBundle) adopt(ctx context.Context, target bundle.Target) (contents bundle.Contents, adopted bool) {
	if w.SHA256 == "" {
		return contents, false
	}
	w.Files = []string{w.SHA256}
	contents, err := bundle.Describe(ctx, target.Path)
	if contents.SHA256 != w.SHA256 || err != nil && target.Directory != "" {
		return contents, false
	}
	w.Trees = []string{contents.ContentSHA256}
	return contents, true
}

// ModifyPlan plans a download if the files on disk are not what the plan asks for. The
// apply may run on another disk, so any planned update leaves the file's checksum
// unknown. The content digest stays known, because it is the same for the same job.
func (r *bundleDownloadResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || req.State.Raw.IsNull() {
		return
	}
	var config, plan, state bundleDownloadModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	written := readWritten(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	replaced := plan.Path.IsUnknown() || plan.ExtractTo.IsUnknown() || plan.target() != state.target()
	sameJob := plan.JobID.Equal(state.JobID) && plan.JobID.ValueString() == written.JobID
	complete := false
	if !replaced {
		old := written.SHA256 != ""
		written.adopt(ctx, state.target())
		found, err := state.target().Inspect(ctx, written.Owned)
		if err != nil {
			addError(&resp.Diagnostics, "Could not inspect the downloaded bundle", err, "", "Apply again.")
			return
		}
		complete = found.Complete() && !old
		warnForeign(&state, found, "will be moved aside by the apply", &resp.Diagnostics)
	}
	plan.SizeBytes, plan.ContentSHA256, plan.FileCount = state.SizeBytes, state.ContentSHA256, state.FileCount
	plan.SHA256 = state.SHA256
	if !config.SHA256.IsNull() {
		plan.SHA256 = config.SHA256
	}
	if !complete || !sameJob || !reflect.DeepEqual(plan, state) {
		plan.SizeBytes = types.Int64Unknown()
		if config.SHA256.IsNull() {
			plan.SHA256 = types.StringUnknown()
		}
		if !sameJob || state.ContentSHA256.IsNull() {
			plan.ContentSHA256, plan.FileCount = types.StringUnknown(), types.Int64Unknown()
		}
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

func (r *bundleDownloadResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan bundleDownloadModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeout(ctx, plan.Timeouts, "create", defaultDownloadTimeout)
	defer cancel()

	written := writtenBundle{}
	if r.download(ctx, c, &plan, &written, true, &resp.Diagnostics) {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		writePrivate(ctx, resp.Private, writtenKey, written, &resp.Diagnostics)
	}
}

// Read does not change the state, which records what was written, on any disk.
func (r *bundleDownloadResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {
}

func (r *bundleDownloadResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state bundleDownloadModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	written := readWritten(ctx, req.Private, &resp.Diagnostics)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeout(ctx, plan.Timeouts, "update", defaultDownloadTimeout)
	defer cancel()

	contents, adopted := written.adopt(ctx, plan.target())
	if !adopted {
		contents = bundle.Contents{
			SHA256: state.SHA256.ValueString(), SizeBytes: state.SizeBytes.ValueInt64(),
			ContentSHA256: state.ContentSHA256.ValueString(), FileCount: state.FileCount.ValueInt64(),
		}
	}
	found, err := plan.target().Inspect(ctx, written.Owned)
	if err != nil {
		addError(&resp.Diagnostics, "Could not inspect the downloaded bundle", err, "", "Apply again.")
		return
	}
	wanted := plan.SHA256.IsUnknown() || plan.SHA256.ValueString() == contents.SHA256
	if found.Complete() && plan.JobID.ValueString() == written.JobID && wanted {
		plan.setContents(contents)
	} else if !r.download(ctx, c, &plan, &written, false, &resp.Diagnostics) {
		return
	}
	written.SHA256 = ""
	writePrivate(ctx, resp.Private, writtenKey, written, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Delete deletes what the resource wrote, and leaves everything else.
func (r *bundleDownloadResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state bundleDownloadModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	written := readWritten(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	written.adopt(ctx, state.target())
	found, err := state.target().Remove(ctx, written.Owned)
	if err != nil {
		addError(&resp.Diagnostics, "Could not delete the downloaded bundle", err, "", "Fix the cause, and destroy again.")
		return
	}
	warnForeign(&state, found, "was not deleted", &resp.Diagnostics)
}

// errReported stands for a failure that is already among the diagnostics.
var errReported = errors.New("reported")

// download downloads the bundle of the plan's job and sets the computed attributes of
// the plan. It reports failures, and leaves the disk unchanged if it fails.
func (r *bundleDownloadResource) download(ctx context.Context, c *client.Client, plan *bundleDownloadModel, written *writtenBundle, create bool, diags *diag.Diagnostics) bool {
	jobID := plan.JobID.ValueString()
	request := bundle.Request{
		Create: create,
		SHA256: plan.SHA256.ValueString(),
		Link: func(ctx context.Context) (bundle.Link, error) {
			link, ok := completedBundle(ctx, c, jobID, diags)
			if !ok {
				return bundle.Link{}, errReported
			}
			return bundle.Link{URL: link.URL, SizeBytes: link.SizeBytes}, nil
		},
	}
	if jobID == written.JobID {
		request.ContentSHA256 = plan.ContentSHA256.ValueString()
	}
	movedAside, err := r.stageAndCommit(ctx, c, request, written, plan)
	if err != nil {
		reportDownload(diags, plan, err)
		return false
	}
	for _, name := range movedAside {
		diags.AddWarning("Files moved aside", fmt.Sprintf("Files that the provider did not write were moved to %s. Delete them if you do not need them.", name))
	}
	written.JobID = jobID
	return true
}

func (r *bundleDownloadResource) stageAndCommit(ctx context.Context, c *client.Client, request bundle.Request, written *writtenBundle, plan *bundleDownloadModel) (movedAside []string, err error) {
	if err := r.data.claims.Claim(plan.target()); err != nil {
		return nil, err
	}
	staged, err := bundle.Stage(ctx, c.Transport(), plan.target(), request)
	if err != nil {
		return nil, err
	}
	defer staged.Discard()
	plan.setContents(staged.Contents())
	return staged.Commit(ctx, &written.Owned, c.Now())
}

// reportDownload adds the diagnostic of a failed download.
func reportDownload(diags *diag.Diagnostics, plan *bundleDownloadModel, err error) {
	const unchanged = "The files on disk are unchanged."
	var occupied *bundle.OccupiedError
	var checksum *bundle.ChecksumError
	var content *bundle.ContentError
	var archive *bundle.ArchiveError
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.Is(err, errReported):
	case errors.As(err, &occupied):
		at := path.Root("path")
		if occupied.Directory {
			at = path.Root("extract_to")
		}
		next := "Remove it, or choose another " + at.String() + "."
		if occupied.Claimed {
			next = "Give each docs_bundle_download its own " + at.String() + "."
		}
		diags.AddAttributeError(at, "Download path already in use",
			paragraphs(fmt.Sprintf("%q %s. The provider does not overwrite what it did not write.", occupied.Name, occupied.Problem), next))
	case errors.As(err, &checksum):
		diags.AddAttributeError(path.Root("sha256"), "Checksum of the bundle does not match",
			paragraphs(fmt.Sprintf("The bundle of job %s has the SHA-256 checksum %s, but sha256 is %s. %s", plan.JobID.ValueString(), checksum.Got, checksum.Want, unchanged),
				"If the bundle is correct, update or remove sha256."))
	case errors.As(err, &content):
		diags.AddAttributeError(path.Root("job_id"), "Content of the bundle has changed",
			paragraphs(fmt.Sprintf("The service returned different files for job %s: content_sha256 is %s instead of %s. %s", plan.JobID.ValueString(), content.Got, content.Want, unchanged),
				"To accept them, run \"terraform apply -replace\" with the address of this resource."))
	case errors.As(err, &archive):
		next := "Export the site again, or download the bundle without extract_to."
		if plan.ExtractTo.IsNull() {
			next = "Apply again. If it fails again, export the site again."
		}
		diags.AddAttributeError(path.Root("extract_to"), "Could not unpack the bundle",
			paragraphs(fmt.Sprintf("The bundle of job %s cannot be unpacked: %s. %s", plan.JobID.ValueString(), strings.TrimSuffix(archive.Error(), "."), unchanged), next))
	case errors.As(err, &file) || errors.As(err, &link):
		diags.AddAttributeError(path.Root("path"), "Could not write the bundle", paragraphs("The operating system returned: "+err.Error()+". "+unchanged, "Fix the cause, and apply again."))
	default:
		addError(diags, "Could not download the bundle", err, "Job: "+plan.JobID.ValueString()+". "+unchanged, "")
	}
}

// warnForeign warns about files that the resource did not write. becomes describes what
// happens to them.
func warnForeign(model *bundleDownloadModel, found bundle.Findings, becomes string, diags *diag.Diagnostics) {
	for _, foreign := range []struct {
		at, name string
		finding  bundle.Finding
	}{
		{"path", model.Path.ValueString(), found.File},
		{"extract_to", model.ExtractTo.ValueString(), found.Tree},
	} {
		if foreign.finding.State == bundle.Foreign {
			diags.AddAttributeWarning(path.Root(foreign.at), "Files differ from what the provider wrote",
				fmt.Sprintf("%s differs from what the provider wrote: %s. It %s.", foreign.name, foreign.finding.Difference, becomes))
		}
	}
}
