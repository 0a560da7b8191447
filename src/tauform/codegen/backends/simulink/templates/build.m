function build_$name
% BUILD_$name  Compile the S-functions of $name and make ${name}_library.slx, a library with a block for each.
%
% Needs Simulink and a C compiler (mex -setup C). Run it in this folder.
here = fileparts(mfilename('fullpath'));
back = cd(here);
restore = onCleanup(@() cd(back));
functions = strsplit('$functions');
for k = 1:numel(functions)
    mex(['-I' here], [functions{k} '.c'], '$inner.c');
end
library = '${name}_library';
if bdIsLoaded(library), close_system(library, 0); end
new_system(library, 'Library');
open_system(library);
$calls
save_system(library, fullfile(here, [library '.slx']));
end

function add(library, title, s_function, inputs, outputs)
% A block around an S-function, its ports named as the arguments of the C function.
place = numel(find_system(library, 'SearchDepth', 1, 'Type', 'block'));
block = [library '/' title];
add_block('simulink/User-Defined Functions/S-Function', block, ...
    'FunctionName', s_function, 'SFunctionModules', '''$inner''', ...
    'Position', [40, 40 + 120*place, 240, 120 + 120*place]);
mask = Simulink.Mask.create(block);
mask.Type = s_function;
mask.Description = [title ' of $name, written by tauform $version. SI units.'];
labels = '';
for k = 1:numel(inputs)
    labels = sprintf('%sport_label(''input'', %d, ''%s'');\n', labels, k, inputs{k});
end
for k = 1:numel(outputs)
    labels = sprintf('%sport_label(''output'', %d, ''%s'');\n', labels, k, outputs{k});
end
mask.Display = labels;
end
